//! The page about ids lists every function in the words of the list, and its SQL runs.

use inorder_sqlite::{FUNCTIONS, KINDS, register};
use rusqlite::Connection;

const PAGE: &str = include_str!("../../../docs/ids.md");

#[test]
fn every_function_is_documented_and_nothing_else() {
    let rows = PAGE
        .lines()
        .skip_while(|line| *line != "| function | gives |")
        .skip(2);
    let documented: Vec<&str> = rows.take_while(|line| line.starts_with('|')).collect();
    let listed = FUNCTIONS
        .iter()
        .map(|function| format!("| `{}` | {} |", function.signature(), function.what));
    let (keys, functions) = documented.split_last().unwrap();
    assert_eq!(functions, listed.collect::<Vec<_>>());
    assert!(keys.starts_with("| `keys(kind, n)` |"));
    let kinds: Vec<String> = KINDS
        .iter()
        .map(|kind| format!("`{}`", kind.name))
        .collect();
    assert!(PAGE.contains(&format!("The kinds of `keys` are {}.", kinds.join(", "))));
}

/// The functions that servers have; `bindings/sql/tests` compares the other columns with the servers.
#[test]
fn every_function_has_its_row_in_the_table_of_servers() {
    let rows = PAGE
        .lines()
        .skip_while(|line| *line != "| SQLite | PostgreSQL | MariaDB |")
        .skip(2);
    let named = rows
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.split('`').nth(1).unwrap());
    let signatures = FUNCTIONS.iter().map(|function| function.signature());
    let listed: Vec<String> = signatures.chain(["keys(kind, n)".to_owned()]).collect();
    assert_eq!(named.collect::<Vec<_>>(), listed);
}

#[test]
fn the_sql_of_the_page_runs() {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch("PRAGMA trusted_schema = off").unwrap();
    register(&db).unwrap();
    let blocks: Vec<&str> = PAGE
        .split("```sql\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert_eq!(blocks.len(), 5);
    for sql in blocks {
        db.execute_batch(sql)
            .unwrap_or_else(|error| panic!("{error}: {sql}"));
    }
    let made: i64 = db
        .query_row("SELECT count(*) FROM event WHERE made_ms > 0", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(made, 1000);
    let tsids = "SELECT count(*) FROM measurement WHERE id > tsid_min('2024-01-01')";
    let tsids: i64 = db.query_row(tsids, [], |row| row.get(0)).unwrap();
    assert_eq!(tsids, 2);
}
