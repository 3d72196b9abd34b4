//! For every schema and all rows, the table equals the one that SQLite's INSERT makes, or the load fails where INSERT
//! does.
//!
//! `INORDER_FUZZ_CASES=5000 cargo test -p inorder-load --test direct equal` for many of them.

use std::path::Path;

use inorder_load::WriterChoice;
use proptest::prelude::*;
use rusqlite::{Connection, params_from_iter};

use super::schema::{Case, case};
use super::{assert_whole, job, load, made, open, rows};

/// Statements that make the database of a case.
fn schema(case: &Case) -> String {
    let indexes = case.indexes.join("; ");
    format!(
        "{} {}; {indexes}; {};",
        case.settings, case.table, case.before
    )
}

/// Inserts the rows of a case, all of them or none.
fn insert(case: &Case, database: &Connection, table: &str) -> rusqlite::Result<()> {
    let columns: Vec<String> = (0..case.given).map(|i| format!("c{i}")).collect();
    let places = vec!["?"; case.given].join(", ");
    let insert = format!(
        "INSERT INTO {table}({}) VALUES({places})",
        columns.join(", ")
    );
    let transaction = database.unchecked_transaction()?;
    let mut statement = database.prepare(&insert)?;
    for row in &case.rows {
        statement.execute(params_from_iter(&row[..case.given]))?;
    }
    transaction.commit()
}

/// The rows of a case as a table without types.
fn source(case: &Case, path: &Path) {
    let columns: Vec<String> = (0..case.given).map(|i| format!("c{i}")).collect();
    let source = made(path, &format!("CREATE TABLE s({})", columns.join(", ")));
    insert(case, &source, "s").expect("rows");
}

/// Everything that a case's table has.
fn content(case: &Case, database: &Connection) -> Vec<String> {
    let rowid = if case.are_rowids_kept { "rowid, " } else { "" };
    let columns: Vec<String> = (0..case.columns)
        .map(|i| format!("c{i}, typeof(c{i})"))
        .collect();
    let order: Vec<String> = (0..case.columns)
        .map(|i| format!("typeof(c{i}), c{i} COLLATE BINARY"))
        .collect();
    let query = format!(
        "SELECT {rowid}{} FROM t NOT INDEXED ORDER BY {}",
        columns.join(", "),
        order.join(", ")
    );
    let mut found = rows(database, &query);
    if case.table.contains("AUTOINCREMENT") {
        // An INSERT … SELECT of no rows writes down 0, which means the same as nothing.
        found.extend(rows(
            database,
            "SELECT * FROM sqlite_sequence WHERE seq > 0",
        ));
    }
    found
}

/// The default number of cases.
const CASES: u32 = 96;

fn cases() -> u32 {
    let given = std::env::var("INORDER_FUZZ_CASES").ok();
    given.and_then(|given| given.parse().ok()).unwrap_or(CASES)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn a_table_is_what_sqlite_would_have_inserted(case in case()) {
        let folder = tempfile::tempdir().expect("folder");
        let (from, to) = (folder.path().join("from.db"), folder.path().join("to.db"));
        source(&case, &from);
        let expected = made(&folder.path().join("expected.db"), &schema(&case));
        let result = insert(&case, &expected, "t");
        drop(made(&to, &schema(&case)));
        let mut job = job(&from, &to, WriterChoice::Direct);
        job.decode = (0..case.columns).map(|i| (format!("c{i}"), None)).collect();
        job.memory_bytes = 1 << 16;
        let loaded = load(&job);
        let database = open(&to);
        assert_whole(&database);
        match (&loaded, &result) {
            (Ok(summary), Ok(())) => {
                prop_assert_eq!(&summary.writer, "direct");
                prop_assert_eq!(summary.rows_written, case.rows.len() as u64);
                prop_assert_eq!(content(&case, &database), content(&case, &expected));
            }
            (Err(_), Err(_)) => prop_assert_eq!(rows(&database, "SELECT * FROM t"), Vec::<String>::new()),
            _ => prop_assert!(false, "{:?} but SQLite has {:?}", loaded, result),
        }
        prop_assert_eq!(rows(&database, "SELECT x FROM beside ORDER BY x").len(), 2);
        // SQLite can continue to write to the table.
        database.execute_batch("DELETE FROM t WHERE c0 IN (SELECT c0 FROM t LIMIT 7); VACUUM").expect("changes");
        assert_whole(&database);
        let left: Vec<_> = std::fs::read_dir(folder.path()).expect("folder").collect();
        for entry in left {
            let name = entry.expect("entry").file_name();
            prop_assert!(!name.to_string_lossy().contains("inorder-load"), "{:?}", name);
        }
    }
}
