//! PostgreSQL's planner as the oracle of redundant indexes, over random sets of indexes.
//!
//! An index is replaced if rows come in its order without a sort once it is gone. So an index that is dropped must not
//! bring a sort, and one that stays must bring one: else it was overlooked.

use crate::server::{Server, changed};
use inorder_advise::server::rules::Group;
use inorder_key::bulk::SplitMix64;
use std::collections::BTreeMap;

/// Tables with random indexes, and indexes of each.
const TABLES: u64 = 80;
const INDEXES: u64 = 8;

/// Numbers below a limit.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, limit: u64) -> u64 {
        self.0 += 1;
        SplitMix64::mix(self.0) % limit
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.roll(choices.len() as u64) as usize]
    }
}

/// A random index: the statement, the order of its rows, its condition, and whether it is UNIQUE.
struct Case {
    statement: String,
    order: String,
    condition: String,
    is_unique: bool,
}

fn case(dice: &mut Dice, table: &str, name: &str) -> Case {
    let mut terms = vec![
        "a",
        "b",
        "c COLLATE \"C\"",
        "c COLLATE \"POSIX\"",
        "lower(c)",
        "(a + b)",
    ];
    let mut chosen = Vec::new();
    // Few columns and directions, so that many indexes are alike.
    for _ in 0..1 + dice.roll(3) {
        let limit = if dice.roll(4) == 0 {
            terms.len() as u64
        } else {
            2.min(terms.len() as u64)
        };
        let term = terms.remove(dice.roll(limit) as usize);
        let direction = dice.of(&["", "", "", "", " DESC", " DESC NULLS LAST", " NULLS FIRST"]);
        chosen.push(format!("{term}{direction}"));
    }
    let order = chosen.join(", ");
    let is_unique = dice.roll(6) == 0;
    let condition = dice
        .of(&["", "", "", " WHERE b > 5", " WHERE c IS NOT NULL"])
        .to_owned();
    let include = dice.of(&["", "", "", "", " INCLUDE (b)"]);
    let unique = if is_unique { "UNIQUE " } else { "" };
    Case {
        statement: format!("CREATE {unique}INDEX {name} ON {table} ({order}){include}{condition}"),
        order,
        condition,
        is_unique,
    }
}

/// Tells whether the rows of an index's order need a sort.
fn needs_sort(server: &Server, table: &str, case: &Case) -> bool {
    let plan = server.rows(&format!(
        "EXPLAIN SELECT * FROM {table}{} ORDER BY {}",
        case.condition, case.order
    ));
    plan.iter().any(|line| line.contains("Sort"))
}

/// What is UNIQUE: table, columns in any order, condition.
const UNIQUE: &str = "SELECT DISTINCT indrelid::regclass || ' ' || (SELECT string_agg(pg_get_indexdef(indexrelid, k, true), ',' ORDER BY pg_get_indexdef(indexrelid, k, true))
     FROM generate_series(1, indnkeyatts) k) || coalesce(pg_get_expr(indpred, indrelid), '') FROM pg_index WHERE indisunique AND indrelid::regclass::text LIKE 't%' ORDER BY 1";

#[test]
fn dropped_indexes_bring_no_sort_and_the_others_do() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    let mut dice = Dice(20);
    let mut cases: BTreeMap<String, (String, Case)> = BTreeMap::new();
    for number in 0..TABLES {
        let table = format!("t{number}");
        server.run(&[
            &format!("CREATE TABLE {table} (a int, b int, c text)"),
            &format!("INSERT INTO {table} SELECT g, g, g FROM generate_series(1, 600) g"),
        ]);
        for index in 0..INDEXES {
            let name = format!("{table}_i{index}");
            let case = case(&mut dice, &table, &name);
            server.run(&[&case.statement]);
            cases.insert(name, (table.clone(), case));
        }
    }
    server.run(&[
        "ANALYZE",
        "SET enable_seqscan = off",
        "SET enable_sort = off",
        "SET enable_incremental_sort = off",
        "SET enable_bitmapscan = off",
    ]);
    let unique_before = server.rows(UNIQUE);
    for (name, (table, case)) in &cases {
        assert!(
            !needs_sort(&server, table, case),
            "{name}: {}",
            case.statement
        );
    }
    let dropped = changed(&server.advice(), Group::RedundantIndex);
    assert!(dropped.len() > 40, "{}", dropped.len());
    for name in &dropped {
        server.run(&[&format!("DROP INDEX {name}")]);
    }
    assert_eq!(server.rows(UNIQUE), unique_before);
    let mut wrong = Vec::new();
    for (name, (table, case)) in &cases {
        if dropped.contains(name) {
            if needs_sort(&server, table, case) {
                wrong.push(format!("needed: {}", case.statement));
            }
        } else if !case.is_unique
            && case.condition.is_empty()
            && !case.statement.contains("INCLUDE")
        {
            server.run(&["BEGIN", &format!("DROP INDEX {name}")]);
            if !needs_sort(&server, table, case) {
                wrong.push(format!("overlooked: {}", case.statement));
            }
            server.run(&["ROLLBACK"]);
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}
