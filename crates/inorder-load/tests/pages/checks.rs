//! CHECK constraints under the direct writer: the same rows stay out, for the same reasons, as under statements.

use super::{assert_whole, job, load, open, pair, rows};
use inorder_load::{Job, Summary, WriterChoice};

const SOURCE: &str = "
    CREATE TABLE s(id, name, size);
    INSERT INTO s VALUES (5, 'e', 1.5), (NULL, 'n', 2), (3, 'c', -1), (4, 'forbidden', 1), (1, 'a', 1),
        (NULL, 'even', 3), (2, NULL, 7), (NULL, 'odd', 3);";

/// Loads the source with each writer. The visible results must be equal.
fn by_both(schema: &str) -> (Summary, Vec<String>) {
    let result = |writer| {
        let (folder, from, to) = pair(SOURCE, schema);
        let summary = load(&Job {
            errors_max: 100,
            rejects: Some(folder.path().join("rejects")),
            ..job(&from, &to, writer)
        });
        let summary = summary.unwrap_or_else(|error| panic!("{error}: {schema}"));
        let database = open(&to);
        assert_whole(&database);
        let all = "SELECT * FROM t ORDER BY id, name";
        (summary, rows(&database, all))
    };
    let (direct, statements) = (
        result(WriterChoice::Direct),
        result(WriterChoice::Statements),
    );
    assert_eq!(direct.1, statements.1, "{schema}");
    fn told(summary: &Summary) -> (u64, u64, Vec<&str>) {
        let because = summary.refused_because.iter();
        // The folder's name is removed, because it differs in each run.
        let mut told: Vec<_> = because
            .filter_map(|what| what.split_once("from.db"))
            .map(|(_, what)| what)
            .collect();
        told.sort_unstable();
        (summary.rows_written, summary.rows_refused, told)
    }
    assert_eq!(told(&direct.0), told(&statements.0), "{schema}");
    direct
}

#[test]
fn rows_that_break_a_check_stay_out_by_whatever_writer() {
    for (schema, refused) in [
        (
            "CREATE TABLE t(id, name CHECK (name <> 'forbidden'), size REAL CONSTRAINT positive CHECK (size > 0))",
            2,
        ),
        // The rowid that a row gets is looked at too.
        (
            "CREATE TABLE t(id INTEGER PRIMARY KEY CHECK (id <> 6), name, size)",
            3,
        ),
        (
            "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, name, size, UNIQUE (name), CHECK (id % 2 OR name))",
            4,
        ),
        (
            "CREATE TABLE t(id, name, size, PRIMARY KEY (size DESC, name), CHECK (length(name) = 1)) WITHOUT ROWID",
            4,
        ),
        (
            "CREATE TABLE t(id ANY, name TEXT, size REAL, CHECK (typeof(size) = 'real' AND name IS NOT NULL)) STRICT",
            1,
        ),
        (
            "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t(id, name CHECK (name IN ('a', 'c', 'e')), size);
             CREATE INDEX i ON t(1 / (size - 2))",
            4,
        ),
        ("CREATE TABLE t(id CHECK (0), name, size)", 8),
    ] {
        let (summary, _) = by_both(schema);
        assert_eq!(summary.rows_refused, refused, "{schema}");
        assert_eq!(summary.rows_written + refused, 8, "{schema}");
        assert_eq!(summary.why_not_direct, None);
    }
}

#[test]
fn a_row_that_breaks_a_check_is_named_and_nothing_is_loaded() {
    let (_folder, from, to) = pair(
        SOURCE,
        "CREATE TABLE t(id, name CONSTRAINT allowed CHECK (name <> 'forbidden'), size)",
    );
    let refused = load(&job(&from, &to, WriterChoice::Direct)).expect_err("a forbidden name");
    let said = refused.to_string();
    assert!(
        said.ends_with("line 4: CHECK constraint failed: allowed"),
        "{said}"
    );
    assert!(rows(&open(&to), "SELECT * FROM t").is_empty());
}
