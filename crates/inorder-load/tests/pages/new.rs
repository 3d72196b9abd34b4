//! A database that isn't there yet, and what stands in its way.

use std::path::Path;

use super::{assert_whole, job, load, names, open, pair, rows};
use inorder_load::{Create, Error, Job, KeySpec, OnDuplicate, WriterChoice};

/// A source with a thousand rows in the order of nothing.
const SOURCE: &str = "CREATE TABLE s AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) \
                      SELECT hex(randomblob(8)) AS id, i AS n, zeroblob(i % 7 * 700) AS data FROM n";

/// A load that makes its table, with this key.
fn creating(from: &Path, to: &Path, key: &str, has_rowid: bool) -> Job {
    let key = KeySpec::parse(key).expect("a key");
    Job {
        create: Some(Create {
            key: vec![key],
            has_rowid,
            ..Create::default()
        }),
        ..job(from, to, WriterChoice::Auto)
    }
}

#[test]
fn a_new_database_is_built_and_nothing_else_is_left() {
    let (folder, from, to) = pair(SOURCE, "");
    for (key, has_rowid) in [
        ("id", false),
        ("id", true),
        ("n", false),
        ("made=uuid7", false),
        ("made=serial", true),
    ] {
        _ = std::fs::remove_file(&to);
        let summary = load(&creating(&from, &to, key, has_rowid)).expect("a load");
        assert_eq!(
            (summary.writer.as_str(), summary.rows_written),
            ("direct", 1000),
            "{key}"
        );
        assert_eq!(names(folder.path()), ["from.db", "to.db"]);
        let database = open(&to);
        assert_whole(&database);
        database
            .execute("ATTACH ?1 AS src", [&*from.to_string_lossy()])
            .expect("attached");
        let differing =
            "SELECT count(*) FROM (SELECT id, n, data FROM t EXCEPT SELECT id, n, data FROM src.s)";
        assert_eq!(rows(&database, differing), ["0"], "{key}");
    }
}

#[test]
fn an_empty_file_is_an_empty_database() {
    let (_folder, from, to) = pair(SOURCE, "");
    std::fs::write(&to, b"").expect("written");
    let summary = load(&creating(&from, &to, "id", false)).expect("a load");
    assert_eq!(summary.writer, "direct");
    assert_whole(&open(&to));
}

#[test]
fn a_stale_wal_is_not_played_into_a_new_database() {
    let (folder, from, to) = pair(SOURCE, "");
    let wal = folder.path().join("to.db-wal");
    std::fs::write(&wal, b"something").expect("written");
    let refused = load(&creating(&from, &to, "id", false)).expect_err("a stale -wal");
    assert!(refused.to_string().contains("to.db-wal"), "{refused}");
    assert_eq!(names(folder.path()), ["from.db", "to.db-wal"]);
}

#[test]
fn fill_leaves_room_on_every_page() {
    let (_folder, from, to) = pair(SOURCE, "");
    let bytes = |fill_percent| {
        _ = std::fs::remove_file(&to);
        let job = Job {
            fill_percent,
            ..creating(&from, &to, "id", false)
        };
        load(&job).expect("a load");
        std::fs::metadata(&to).expect("metadata").len()
    };
    assert_eq!(bytes(None), bytes(Some(100)));
    assert!(bytes(Some(50)) > bytes(Some(100)) * 11 / 10);
}

#[test]
fn a_duplicate_names_both_rows_and_leaves_nothing() {
    let (folder, from, to) = pair(
        "CREATE TABLE s(id, n); INSERT INTO s VALUES ('b', 1), ('a', 2), ('c', 1), ('b', 3)",
        "",
    );
    let twice = load(&creating(&from, &to, "id", false)).expect_err("a key twice");
    assert!(
        matches!(&twice, Error::Duplicate { first, second, .. }
        if first.ends_with("1") && second.ends_with("4")),
        "{twice}"
    );
    assert_eq!(names(folder.path()), ["from.db"]);
    let job = Job {
        on_duplicate: OnDuplicate::Replace,
        ..creating(&from, &to, "id", false)
    };
    assert_eq!(load(&job).expect("a load").rows_duplicate, 1);
    let found = rows(&open(&to), "SELECT n FROM t ORDER BY id");
    assert_eq!(found, ["2", "3", "1"]);
}

#[test]
fn a_value_twice_in_a_unique_index_names_both_rows() {
    let (_folder, from, to) = pair(
        "CREATE TABLE s(id, n); INSERT INTO s VALUES ('b', 1), ('a', 2), ('c', NULL), ('d', NULL), ('e', 1)",
        "CREATE TABLE t(id PRIMARY KEY, n UNIQUE) WITHOUT ROWID",
    );
    let twice = load(&job(&from, &to, WriterChoice::Direct)).expect_err("a value twice");
    assert!(
        matches!(&twice, Error::Duplicate { first, second, .. }
        if first.ends_with("1") && second.ends_with("5")),
        "{twice}"
    );
    assert!(rows(&open(&to), "SELECT * FROM t").is_empty());
}

#[test]
fn no_rows_leave_no_trace_in_sqlite_sequence() {
    let (_folder, from, to) = pair(
        "CREATE TABLE s(n)",
        "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, n); CREATE TABLE beside(x)",
    );
    load(&job(&from, &to, WriterChoice::Direct)).expect("a load");
    assert!(rows(&open(&to), "SELECT * FROM sqlite_sequence").is_empty());
}

#[test]
fn rows_without_a_rowid_get_the_one_that_an_insert_would_give() {
    let rows_given =
        "INSERT INTO # SELECT * FROM (VALUES (NULL, 'x'), (7, 'a'), (-3, 'b'), (NULL, 'y'))";
    let (_folder, from, to) = pair(
        &format!("CREATE TABLE s(id, n); {}", rows_given.replace('#', "s")),
        "CREATE TABLE t(id INTEGER PRIMARY KEY NOT NULL, n); CREATE INDEX i ON t(n)",
    );
    load(&job(&from, &to, WriterChoice::Direct)).expect("a load");
    let database = open(&to);
    assert_whole(&database);
    let same = "CREATE TABLE own(id INTEGER PRIMARY KEY NOT NULL, n)";
    database.execute_batch(same).expect("a table");
    database
        .execute_batch(&rows_given.replace('#', "own"))
        .expect("rows");
    assert_eq!(
        rows(&database, "SELECT id, n FROM t ORDER BY id"),
        rows(&database, "SELECT id, n FROM own ORDER BY id")
    );
}
