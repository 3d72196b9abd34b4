//! A tree against a sorted map, over random batches of changes.

use super::*;
use crate::views::key::Collation;
use crate::views::node::{Emitted, Position, first_entry, write_entry};
use crate::views::reduce::{Reducer, Reducers, builtin};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

/// Key, document id, and the values of the rows.
type Model = BTreeMap<(Vec<u8>, Vec<u8>), (String, Vec<i64>)>;

fn connection() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    let sql = "CREATE TABLE nodes(id INTEGER PRIMARY KEY, node BLOB NOT NULL)";
    connection.execute_batch(sql).unwrap();
    connection
}

fn reducers() -> Vec<Reducer> {
    let make = |name| Reducer::Builtin(builtin(name).unwrap().unwrap());
    ["_sum", "_count", "_approx_count_distinct"]
        .map(make)
        .into()
}

/// What becomes of the rows of a document with a key: `[year, title]`.
#[derive(Clone, Debug)]
struct Step {
    year: u8,
    title: u16,
    values: Vec<i64>,
}

fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let values = prop_oneof![
        1 => Just(Vec::new()),
        3 => proptest::collection::vec(-5..100_i64, 1..3),
    ];
    let step = (0..4_u8, 0..400_u16, values);
    let step = step.prop_map(|(year, title, values)| Step {
        year,
        title,
        values,
    });
    proptest::collection::vec(step, 0..most)
}

/// The values are written so long that a few hundred fill several nodes.
fn value(value: i64) -> String {
    format!("{value}{}", " ".repeat(60))
}

fn apply(connection: &Connection, root: &Root, model: &mut Model, steps: &[Step]) -> Root {
    let mut changes = BTreeMap::new();
    for step in steps {
        let parsed = json!([step.year, step.title]);
        let (key, id) = (
            Collation::Unicode.key(&parsed),
            format!("d{}", step.title % 7).into_bytes(),
        );
        let text = parsed.to_string();
        let values: Vec<String> = step.values.iter().map(|one| value(*one)).collect();
        let rows: Vec<_> = values
            .iter()
            .map(|value| Emitted { key: &text, value })
            .collect();
        let mut entry = Vec::new();
        write_entry(
            &mut entry,
            Position { key: &key, id: &id },
            rows.into_iter(),
        );
        let place = (key.clone(), id.clone());
        match step.values.is_empty() {
            true => drop(model.remove(&place)),
            false => drop(model.insert(place.clone(), (text.clone(), step.values.clone()))),
        }
        changes.insert(place, (!step.values.is_empty()).then_some(entry));
    }
    let changes = changes.iter().map(|((key, id), entry)| Change {
        position: Position { key, id },
        entry: entry.as_deref().map(|entry| first_entry(entry).unwrap()),
    });
    let changes: Vec<Change<'_>> = changes.collect();
    let list = reducers();
    let reducers = Reducers {
        list: &list,
        scripts: &|_| unreachable!("no function is a script"),
    };
    edit(connection, root, &changes, &reducers).unwrap()
}

fn check(connection: &Connection, root: &Root, model: &Model) {
    let rows: Vec<(&str, i64)> = model
        .values()
        .flat_map(|(key, values)| values.iter().map(move |value| (key.as_str(), *value)))
        .collect();
    assert_eq!(root.count, rows.len() as u64);
    let nodes = Nodes::new(connection);
    for descending in [false, true] {
        let mut read = Vec::new();
        visit(&nodes, root, descending, 0, &mut |entry, skipped| {
            assert_eq!(skipped, 0);
            let rows: Vec<_> = entry.rows().collect::<std::result::Result<_, _>>()?;
            let own = rows
                .iter()
                .map(|row| (row.key.to_owned(), row.value.trim().parse::<i64>().unwrap()));
            match descending {
                true => read.extend(own.rev()),
                false => read.extend(own),
            }
            Ok(true)
        })
        .unwrap();
        if descending {
            read.reverse();
        }
        let expected: Vec<_> = rows
            .iter()
            .map(|(key, value)| ((*key).to_owned(), *value))
            .collect();
        assert_eq!(read, expected);
    }
    check_ranks(&nodes, root, model);
    check_groups(&nodes, root, &rows);
}

fn check_ranks(nodes: &Nodes<'_>, root: &Root, model: &Model) {
    let mut before = 0;
    for (at, ((key, id), (_, values))) in model.iter().enumerate() {
        let cut = |is_after| Cut {
            key: key.clone(),
            id: id.clone(),
            is_after,
        };
        if at % 11 == 0 {
            assert_eq!(rank(nodes, root, &cut(false)).unwrap(), before);
            assert_eq!(
                rank(nodes, root, &cut(true)).unwrap(),
                before + values.len() as u64
            );
        }
        before += values.len() as u64;
    }
}

/// Sums by group of a part of the rows, by whole subtrees and without.
fn check_groups(nodes: &Nodes<'_>, root: &Root, rows: &[(&str, i64)]) {
    let ends = [(0, rows.len()), (rows.len() / 5, rows.len() * 2 / 3)];
    for (level, descending) in [
        (Some(0), false),
        (Some(1), false),
        (Some(1), true),
        (None, false),
    ] {
        for (from, to) in ends {
            let (from, to) = whole_entries(nodes, root, from as u64, to as u64);
            let mut expected: BTreeMap<String, i64> = BTreeMap::new();
            for (key, value) in &rows[from as usize..to as usize] {
                *expected.entry(group(key, level)).or_default() += value;
            }
            let mut found = BTreeMap::new();
            let fold = Fold {
                nodes,
                root,
                collation: Collation::Unicode,
                prefix_bytes: 0,
                level,
                descending,
                reducer: 0,
            };
            let stopped = fold.run(from, to, &mut |given| {
                let sums = given
                    .parts
                    .reductions
                    .iter()
                    .map(|sum| String::from_utf8(sum.clone()).unwrap());
                let sum: i64 = sums.map(|sum| sum.parse::<i64>().unwrap()).sum();
                let own: i64 = given
                    .parts
                    .rows
                    .iter()
                    .flatten()
                    .map(|row| row.value.trim().parse::<i64>().unwrap())
                    .sum();
                assert!(found.insert(group(&given.key, level), sum + own).is_none());
                Ok(true)
            });
            assert_eq!(stopped.unwrap(), None);
            assert_eq!(found, expected, "{level:?} {descending} {from} {to}");
        }
    }
}

fn group(key: &str, level: Option<usize>) -> String {
    match level {
        Some(0) => String::new(),
        Some(_) => key.split(',').next().unwrap().to_owned(),
        None => key.to_owned(),
    }
}

/// Moves two numbers of rows to the beginnings of entries.
fn whole_entries(nodes: &Nodes<'_>, root: &Root, from: u64, to: u64) -> (u64, u64) {
    let (mut at, mut starts) = (0, vec![0]);
    visit(nodes, root, false, 0, &mut |entry, _| {
        at += entry.count;
        starts.push(at);
        Ok(true)
    })
    .unwrap();
    let nearest = |wanted: u64| {
        *starts
            .iter()
            .rev()
            .find(|start| **start <= wanted)
            .unwrap_or(&0)
    };
    (nearest(from), nearest(to))
}

/// No node but the root is nearly empty, all are below the limit, and each is found once.
fn check_nodes(connection: &Connection, root: &Root) {
    let count: i64 = connection
        .query_row("SELECT count(*) FROM nodes", [], |row| row.get(0))
        .unwrap();
    let mut nodes = 0;
    let mut below = vec![(root.node, root.height)];
    while let Some((id, height)) = below.pop() {
        if id == 0 {
            continue;
        }
        nodes += 1;
        let stored = node(connection, id).unwrap();
        if height > 0 {
            let children = crate::views::node::children(&stored).unwrap();
            below.extend(children.iter().map(|child| (child.node, height - 1)));
        } else {
            assert!(stored.len() <= split::NODE_BYTES_MAX + 400);
        }
    }
    assert_eq!(nodes, count);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn a_tree_has_what_a_sorted_map_has(first in steps(1500), others in proptest::collection::vec(steps(200), 0..6)) {
        let (connection, mut model, mut root) = (connection(), Model::new(), Root::default());
        for steps in std::iter::once(&first).chain(&others) {
            root = apply(&connection, &root, &mut model, steps);
            check(&connection, &root, &model);
            check_nodes(&connection, &root);
        }
        let rest: Vec<Step> = (0..4).flat_map(|year| (0..400).map(move |title| Step { year, title, values: Vec::new() })).collect();
        root = apply(&connection, &root, &mut model, &rest);
        prop_assert_eq!(root, Root::default());
        check_nodes(&connection, &Root::default());
    }
}

#[test]
fn a_large_tree_is_divided_and_joined_again() {
    let (connection, mut model, mut root) = (connection(), Model::new(), Root::default());
    let all = |values: Vec<i64>| {
        (0..250)
            .flat_map(move |year| {
                let values = values.clone();
                (0..50).map(move |title| Step {
                    year,
                    title,
                    values: values.clone(),
                })
            })
            .collect::<Vec<Step>>()
    };
    root = apply(&connection, &root, &mut model, &all(vec![1]));
    assert!(root.height >= 2, "{}", root.height);
    assert_eq!(root.reductions[0], b"12500");
    check(&connection, &root, &model);
    let mut removed = all(Vec::new());
    removed.retain(|step| step.year > 1);
    root = apply(&connection, &root, &mut model, &removed);
    check(&connection, &root, &model);
    check_nodes(&connection, &root);
    assert!(root.height <= 1, "{}", root.height);
}
