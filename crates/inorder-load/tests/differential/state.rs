//! The content of a database.

use std::collections::BTreeMap;

use rusqlite::Connection;
use rusqlite::types::{Value, ValueRef};

/// Every table with its rows, each with its rowid where one can be seen.
pub type State = BTreeMap<String, Vec<String>>;

pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The identity of rows of the table `t`: names of columns, or of the rowid; and whether it has one.
pub fn identity(db: &Connection) -> (Vec<String>, bool) {
    let ask = |sql: &str| -> Vec<String> {
        let mut statement = db.prepare(sql).expect("a query");
        let names = statement.query_map([], |row| row.get(0)).expect("rows");
        names.map(|name| name.expect("a name")).collect()
    };
    let key = ask("SELECT name FROM pragma_table_info('t') WHERE pk > 0 ORDER BY pk");
    let is_indexed = !ask("SELECT name FROM pragma_index_list('t') WHERE origin = 'pk'").is_empty();
    let has_rowid =
        !ask("SELECT name FROM pragma_table_list WHERE name = 't' AND wr = 0").is_empty();
    let names = match has_rowid && (key.is_empty() || is_indexed) {
        true => vec!["rowid".to_owned()],
        false => key.iter().map(|name| quoted(name)).collect(),
    };
    (names, has_rowid)
}

/// The identity of each row of `t`.
pub fn identities(db: &Connection, identity: &[String]) -> Vec<String> {
    rows(db, &format!("SELECT {} FROM t", identity.join(", ")))
}

/// Everything except for hidden rowids, which the order of writing decides.
pub fn state(db: &Connection) -> State {
    let tables =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_stat%'";
    let mut statement = db.prepare(tables).expect("a schema");
    let names = statement
        .query_map([], |row| row.get::<_, String>(0))
        .expect("tables");
    let mut state = State::new();
    for name in names {
        let name = name.expect("a name");
        let all = format!("SELECT * FROM {}", quoted(&name));
        state.insert(name, rows(db, &all));
    }
    let schema =
        "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_sequence'";
    state.insert("the schema".to_owned(), rows(db, schema));
    state
}

/// The rows of a query, sorted; text as the bytes that are stored.
fn rows(db: &Connection, sql: &str) -> Vec<String> {
    let names: Vec<String> = {
        let statement = db.prepare(sql).expect("a query");
        statement
            .column_names()
            .iter()
            .map(|name| quoted(name))
            .collect()
    };
    let stored = names.iter().map(|name| {
        format!("typeof({name}), CASE WHEN typeof({name}) = 'text' THEN CAST({name} AS BLOB) ELSE {name} END")
    });
    let stored = stored.collect::<Vec<_>>().join(", ");
    let mut statement = db
        .prepare(&format!("SELECT {stored} FROM ({sql})"))
        .expect("a query");
    let mut found = statement.query([]).expect("rows");
    let mut rows = Vec::new();
    while let Some(row) = found.next().expect("a row") {
        let value = |at: usize| {
            let kind: String = row.get_unwrap(2 * at);
            match row.get_ref_unwrap(2 * at + 1) {
                ValueRef::Real(real) => format!("real {real:?}"),
                ValueRef::Blob(bytes) if kind == "text" => {
                    format!("text {:?}", String::from_utf8_lossy(bytes))
                        + &match std::str::from_utf8(bytes) {
                            Ok(_) => String::new(),
                            Err(_) => format!(" {bytes:?}"),
                        }
                }
                other => format!("{:?}", Value::try_from(other).expect("a value")),
            }
        };
        let values: Vec<String> = (0..names.len()).map(value).collect();
        rows.push(values.join(", "));
    }
    rows.sort();
    rows
}

/// The result of `PRAGMA integrity_check`: `ok`, or the faults.
pub fn integrity(db: &Connection) -> String {
    let sql = "SELECT group_concat(integrity_check) FROM pragma_integrity_check";
    db.query_row(sql, [], |row| row.get(0)).expect("an answer")
}
