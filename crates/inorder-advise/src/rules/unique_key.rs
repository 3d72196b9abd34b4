//! A unique key of a table without a primary key: it could be the key that the rows are stored by.

use super::{
    Candidate, Class, Group,
    reliance::on_rowid,
    shared::{OTHER_ORDER, demanded_by_name, false_report, missing, title},
};
use crate::{
    Change,
    apply::{handled_null, ignored_default},
    ddl::null_is_handled,
    read::{Database, Index, Origin, Table, TableKind},
};

/// What a program sees of the constraint's new kind.
const OTHER_CODE: &str = "A duplicate fails with the same message and another extended code: \
    SQLITE_CONSTRAINT_PRIMARYKEY or SQLITE_CONSTRAINT_ROWID, where it is SQLITE_CONSTRAINT_UNIQUE today.";

pub(super) fn find(database: &Database) -> Vec<Candidate> {
    let is_keyless =
        |table: &&Table| table.kind == TableKind::Rowid && table.rows > 0 && table.key.is_empty();
    let tables = database.tables.iter().filter(is_keyless);
    tables.flat_map(|table| of_table(database, table)).collect()
}

/// A unique key and its columns.
struct Key<'t> {
    index: &'t Index,
    columns: Vec<usize>,
}

/// The unique keys of a table, without those that contain another one that could be the primary key.
fn keys(table: &Table) -> Vec<Key<'_>> {
    let unique = table
        .indexes
        .iter()
        .filter(|index| index.is_unique && index.condition.is_none());
    let mut keys: Vec<Key<'_>> = Vec::new();
    for index in unique {
        let Some(columns) = index.columns() else {
            continue;
        };
        if !keys.iter().any(|key| key.columns == columns) {
            keys.push(Key { index, columns });
        }
    }
    let usable: Vec<Vec<usize>> = keys
        .iter()
        .filter(|key| unusable(table, key).is_none())
        .map(|key| key.columns.clone())
        .collect();
    let contains_another = |key: &Key<'_>| {
        let is_within = |other: &Vec<usize>| {
            other.len() < key.columns.len() && other.iter().all(|at| key.columns.contains(at))
        };
        usable.iter().any(is_within)
    };
    keys.retain(|key| !contains_another(key));
    // One that can't be the key is told of only where there is no other.
    if !usable.is_empty() {
        keys.retain(|key| unusable(table, key).is_none());
    }
    keys
}

/// Why a unique key can't be a primary key.
fn unusable(table: &Table, key: &Key<'_>) -> Option<String> {
    let columns = key.columns.iter().map(|&at| &table.columns[at]);
    columns.clone().find_map(|column| {
        let nulls = column.values.nulls;
        match (column.is_not_null, nulls) {
            _ if column.is_generated() => Some(format!(
                "{} is generated, and no part of a primary key",
                column.name
            )),
            (true, _) => None,
            (false, 0) => Some(format!(
                "{} is not declared NOT NULL: UNIQUE takes NULL, which a primary key would refuse",
                column.name
            )),
            (false, nulls) => Some(format!(
                "{nulls} rows have NULL in {}: UNIQUE takes them, a primary key would refuse them",
                column.name
            )),
        }
    })
}

fn of_table(database: &Database, table: &Table) -> Vec<Candidate> {
    let mut found = Vec::new();
    for key in keys(table) {
        let blocker = missing(table)
            .or_else(|| unusable(table, &key))
            .or_else(|| on_rowid(database, table, &key.columns))
            .or_else(|| demanded_by_name(database, &key.index.name))
            .or_else(|| {
                let differs = table.inserts_differ_in_another_layout();
                differs.then(|| OTHER_ORDER.into())
            });
        let candidates = integer_key(table, &key).into_iter();
        let candidates = candidates.chain([without_rowid(table, &key)]);
        found.extend(candidates.map(|candidate| match &blocker {
            Some(blocker) if candidate.class == Class::Safe => candidate.rejected(blocker),
            _ => candidate,
        }));
    }
    found
}

/// Says that an index goes by its name.
fn note_of_index(key: &Key<'_>) -> Option<String> {
    let index = &key.index.name;
    (key.index.origin == Origin::Created)
        .then(|| format!("The index {index} goes: the table has its order. A program that names it finds it no more."))
}

fn without_rowid(table: &Table, key: &Key<'_>) -> Candidate {
    let title = title(table, key.index);
    let columns = table.names(&key.columns);
    let mut notes = vec![
        "Nothing in the schema uses its rowid; the application may (rowid, last_insert_rowid)."
            .into(),
        "Rows without ORDER BY come in the order of the key.".into(),
        OTHER_CODE.into(),
    ];
    notes.extend(note_of_index(key));
    notes.extend(false_report(table, &key.columns));
    Candidate {
        rule: "",
        group: Group::WithoutRowid,
        class: Class::Safe,
        table: table.name.clone(),
        object: format!("{} by {title}", table.name),
        reason: format!(
            "stored by its unique key ({}), which needs no index beside the table",
            columns.join(", ")
        ),
        changes: vec![Change::WithoutRowidByUnique {
            table: table.name.clone(),
            columns,
        }],
        notes,
    }
}

/// A unique key of integers, which can be the rowid.
fn integer_key(table: &Table, key: &Key<'_>) -> Option<Candidate> {
    let [at] = key.columns[..] else { return None };
    let column = &table.columns[at];
    let values = &column.values;
    if !column.declared.to_ascii_uppercase().contains("INT") || values.integers == 0 {
        return None;
    }
    let mut notes = vec![
        "A row inserted with NULL in the key, or without it, gets the next integer, where it is refused today; a key that is no integer is refused."
            .into(),
        "Rows without ORDER BY come in the order of the key. Applications may use the rowid of today.".into(),
        OTHER_CODE.into(),
    ];
    notes.extend(note_of_index(key));
    let candidate = Candidate {
        rule: "",
        group: Group::IntegerKey,
        class: Class::Safe,
        table: table.name.clone(),
        object: format!("{}.{}", table.name, column.name),
        changes: vec![Change::IntegerPrimaryKey {
            table: table.name.clone(),
            column: column.name.clone(),
        }],
        reason: format!(
            "{} has an index beside the rowid; as INTEGER PRIMARY KEY it is the rowid",
            title(table, key.index)
        ),
        notes,
    };
    let others = values.rows - values.integers;
    let blocker = (others > 0)
        .then(|| {
            format!("{others} of {} keys are no integers: as INTEGER PRIMARY KEY they could not be stored", values.rows)
        })
        .or_else(|| column.default.as_ref().map(|_| ignored_default(&column.name)))
        .or_else(|| null_is_handled(&table.sql, &column.name).then(|| handled_null(&column.name)));
    Some(match blocker {
        Some(blocker) => candidate.rejected(blocker),
        None => candidate,
    })
}
