//! Rows that are merged with those of a table: the same as inserts, and when that is done.

use inorder_load::{Error, Job, OnDuplicate, Summary, WriterChoice};
use rusqlite::Connection;

use super::{assert_whole, job, load, open, quick_pair, rows};

/// 4,000 rows in no order, whose `a` is even.
const SOURCE: &str = "CREATE TABLE s AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) \
     SELECT i * 7919 % 10007 * 2 AS a, i AS b, CASE i % 5 WHEN 0 THEN NULL ELSE hex(i * 31 % 997) END AS c FROM n";

/// As many rows whose `a` is odd.
const OLD: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) \
     SELECT i * 7919 % 10007 * 2 + 1 AS a, -i AS b, 'x' || zeroblob(i % 300) AS c FROM n";

fn schema(setup: &str, table: &str) -> String {
    format!(
        "{setup}; {table}; INSERT INTO t(a, b, c) {OLD}; CREATE TABLE beside(x); INSERT INTO beside VALUES (7)"
    )
}

/// Loads by this writer. Returns the summary and the rows.
fn loaded(schema: &str, writer: WriterChoice, wanted: &str) -> (Summary, Vec<String>) {
    let (_folder, from, to) = quick_pair(SOURCE, schema);
    let summary = load(&job(&from, &to, writer));
    let summary = summary.unwrap_or_else(|error| panic!("{error}: {schema}"));
    let database = open(&to);
    assert_whole(&database);
    assert_eq!(rows(&database, "SELECT x FROM beside"), ["7"]);
    let found = rows(&database, wanted);
    // The database can be written on.
    database
        .execute_batch("INSERT INTO t(a, b, c) VALUES (-1, 'later', zeroblob(9000)); DELETE FROM t WHERE b > 100")
        .expect("changed");
    assert_whole(&database);
    (summary, found)
}

fn is_merged(summary: &Summary) -> bool {
    let is_told = summary
        .notes
        .iter()
        .any(|note| note.text.contains("the rows that were there"));
    assert_eq!(is_told, summary.writer == "direct", "{:?}", summary.notes);
    is_told
}

#[test]
fn merged_rows_are_those_of_inserts() {
    for setup in [
        "",
        "PRAGMA journal_mode = WAL",
        "PRAGMA page_size = 512",
        "PRAGMA page_size = 65536; PRAGMA encoding = 'UTF-16be'",
    ] {
        for (table, order) in [
            ("CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)", "rowid"),
            (
                "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b, c); CREATE INDEX i ON t(c, b DESC)",
                "rowid",
            ),
            ("CREATE TABLE t(a PRIMARY KEY, b, c) WITHOUT ROWID", "a"),
            (
                "CREATE TABLE t(c, b UNIQUE, a INT, PRIMARY KEY(a DESC, b)) WITHOUT ROWID; CREATE INDEX i ON t(c)",
                "a",
            ),
            ("CREATE TABLE t(a TEXT PRIMARY KEY, b, c)", "rowid"),
            (
                "CREATE TABLE t(a UNIQUE, b REAL, c COLLATE NOCASE); CREATE UNIQUE INDEX i ON t(b); CREATE INDEX j ON t(c)",
                "rowid",
            ),
            (
                "CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (-5, 1), (900000, 2); \
                 ALTER TABLE t ADD COLUMN c DEFAULT 'some'; CREATE INDEX i ON t(c)",
                "rowid",
            ),
            (
                "CREATE TABLE t(a INTEGER PRIMARY KEY, b CHECK (b <> 5000), c); CREATE INDEX i ON t(b)",
                "rowid",
            ),
        ] {
            let schema = schema(setup, table);
            let columns = if order == "rowid" {
                "rowid, a, b, c"
            } else {
                "a, b, c"
            };
            let wanted = format!("SELECT {columns} FROM t ORDER BY {order}");
            let (direct, merged) = loaded(&schema, WriterChoice::Direct, &wanted);
            let (_, inserted) = loaded(&schema, WriterChoice::Statements, &wanted);
            assert!(is_merged(&direct), "{schema}");
            assert!(merged.len() >= 8000, "{schema}");
            assert!(merged == inserted, "{schema}");
        }
    }
}

#[test]
fn rows_that_come_last_leave_pages_where_they_are() {
    for setup in ["", "PRAGMA journal_mode = WAL", "PRAGMA page_size = 512"] {
        for table in [
            "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c); CREATE INDEX i ON t(b)",
            "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b, c)",
            "CREATE TABLE t(a PRIMARY KEY, b, c)",
            "CREATE TABLE t(a UNIQUE, b, c); CREATE INDEX i ON t(c, a)",
        ] {
            let source = format!("{SOURCE}; UPDATE s SET a = a + 100000");
            let schema = schema(setup, table);
            let wanted = "SELECT rowid, a, b, c FROM t ORDER BY rowid";
            let (_folder, from, to) = quick_pair(&source, &schema);
            let (_other, _, by_inserts) = quick_pair(&source, &schema);
            // One row, and rows of several levels of interior pages.
            open(&from)
                .execute_batch("CREATE TABLE one AS SELECT 7000000 AS a, 1 AS b, 2 AS c")
                .expect("made");
            for from_table in ["s", "one"] {
                let load_of = |to, writer| {
                    let mut job = job(&from, to, writer);
                    job.inputs[0].table = Some(from_table.to_owned());
                    load(&job).unwrap_or_else(|error| panic!("{error}: {schema}"))
                };
                let summary = load_of(&to, WriterChoice::Direct);
                load_of(&by_inserts, WriterChoice::Statements);
                let note = summary.notes.first().map_or("", |note| note.text.as_str());
                assert!(
                    note.starts_with("appended to the rows that were there, whose pages stay"),
                    "{note}"
                );
            }
            let database = open(&to);
            assert_whole(&database);
            assert!(
                rows(&database, wanted) == rows(&open(&by_inserts), wanted),
                "{schema}"
            );
            let free = "SELECT freelist_count * 4 < page_count OR (SELECT count(*) FROM pragma_index_list('t')) \
                        FROM pragma_freelist_count, pragma_page_count";
            assert_eq!(rows(&database, free), ["1"], "{schema}");
        }
    }
}

#[test]
fn a_key_that_is_there_leaves_the_table_as_it_was() {
    for (table, key) in [
        ("CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)", "a"),
        ("CREATE TABLE t(a PRIMARY KEY, b, c) WITHOUT ROWID", "a"),
        ("CREATE TABLE t(a PRIMARY KEY, b, c)", "a"),
        (
            "CREATE TABLE t(a PRIMARY KEY, b UNIQUE, c) WITHOUT ROWID",
            "b",
        ),
    ] {
        let schema = schema("", table);
        let source = format!(
            "{SOURCE}; UPDATE s SET a = 7919 * 2 + 1 WHERE b = 77 AND '{key}' = 'a'; \
                              UPDATE s SET b = -3 WHERE b = 77 AND '{key}' = 'b'"
        );
        let (_folder, from, to) = quick_pair(&source, &schema);
        let before = std::fs::read(&to).expect("a file");
        let refused = load(&job(&from, &to, WriterChoice::Direct)).expect_err("a duplicate");
        assert!(matches!(refused, Error::Duplicate { .. }), "{refused}");
        let words = refused.to_string();
        assert!(
            words.contains("a row that is there already") && words.contains("line 77"),
            "{words}"
        );
        assert!(std::fs::read(&to).expect("a file") == before, "{schema}");
    }
}

/// Why rows were inserted.
fn why_inserted(job: &Job) -> String {
    let summary = load(job).expect("a load");
    assert_eq!(summary.writer, "statements");
    summary.why_not_direct.unwrap_or_default()
}

#[test]
fn the_reason_why_rows_are_inserted_is_told() {
    let key = "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)";
    for (table, words) in [
        ("CREATE TABLE t(a, b, c)", "no key"),
        (
            "CREATE TABLE p(x PRIMARY KEY); CREATE TABLE t(a PRIMARY KEY, b, c, d REFERENCES p)",
            "refers to the table p",
        ),
        (
            "CREATE TABLE t(a PRIMARY KEY, b, c); CREATE INDEX i ON t(b) WHERE b > 5",
            "i is partial",
        ),
        (
            "CREATE TABLE t(a PRIMARY KEY, b, c); CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END",
            "triggers",
        ),
    ] {
        let (_folder, from, to) = quick_pair(SOURCE, &schema("", table));
        let why = why_inserted(&job(&from, &to, WriterChoice::Auto));
        assert!(why.contains(words), "{why:?}: {table}");
    }
    let (_folder, from, to) = quick_pair(SOURCE, &schema("", key));
    let ignoring = Job {
        on_duplicate: OnDuplicate::Ignore,
        ..job(&from, &to, WriterChoice::Auto)
    };
    assert!(why_inserted(&ignoring).contains("--on-duplicate"));
}

#[test]
fn rows_are_merged_where_that_writes_fewer_pages() {
    let keys = [
        "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)",
        "CREATE TABLE t(a PRIMARY KEY, b, c) WITHOUT ROWID",
    ];
    for table in keys {
        // As many rows as there are, between them; a few; and as many that come after them.
        for (change, expected) in [
            ("", true),
            ("DELETE FROM s WHERE b > 20", false),
            ("UPDATE s SET a = a + 100000", false),
        ] {
            let (_folder, from, to) =
                quick_pair(&format!("{SOURCE}; {change}"), &schema("", table));
            let summary = load(&job(&from, &to, WriterChoice::Auto)).expect("a load");
            assert_eq!(
                is_merged(&summary),
                expected,
                "{table}, {change}: {:?}",
                summary.why_not_direct
            );
            let why = summary.why_not_direct.unwrap_or_default();
            assert_eq!(why.contains("inserts change about"), !expected, "{why}");
        }
    }
}

#[test]
fn rows_are_inserted_where_another_connection_uses_the_wal() {
    let setup = "PRAGMA journal_mode = WAL";
    let table = "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)";
    let (_folder, from, to) = quick_pair(SOURCE, &schema(setup, table));
    let reader = open(&to);
    open(&to)
        .execute_batch("INSERT INTO beside VALUES (8)")
        .expect("written");
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM t")
        .expect("begun");
    let refused = load(&job(&from, &to, WriterChoice::Direct)).expect_err("in use");
    assert!(
        refused
            .to_string()
            .contains("another connection uses the WAL"),
        "{refused}"
    );
    let why = why_inserted(&job(&from, &to, WriterChoice::Auto));
    assert!(why.contains("another connection uses the WAL"), "{why}");
    assert_eq!(rows(&reader, "SELECT count(*) FROM t"), ["4000"]);
    reader.execute_batch("COMMIT").expect("ended");
    assert_eq!(rows(&reader, "SELECT count(*) FROM t"), ["8000"]);
    assert_whole(&reader);
}

#[test]
fn a_database_that_grew_by_merges_is_filled_by_inserts() {
    let (_folder, from, to) = quick_pair(
        SOURCE,
        &schema("", "CREATE TABLE t(a TEXT PRIMARY KEY, b, c) WITHOUT ROWID"),
    );
    let mut merged = 0;
    for round in 0..6 {
        let summary = load(&job(&from, &to, WriterChoice::Auto)).expect("a load");
        merged += u32::from(summary.writer == "direct");
        Connection::open(&from)
            .and_then(|source| source.execute_batch("UPDATE s SET a = a || '.'"))
            .expect("other rows");
        let database = open(&to);
        assert_whole(&database);
        let free = "SELECT (SELECT freelist_count FROM pragma_freelist_count) * 2.0 / page_count FROM pragma_page_count";
        let free: f64 = database
            .query_row(free, [], |row| row.get(0))
            .expect("a share");
        assert!(free < 1.6, "{round}: {free}");
    }
    assert!((2..6).contains(&merged), "{merged}");
}
