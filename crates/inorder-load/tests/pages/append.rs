//! Trees behind the last page of an existing database: when that is done, and what is left.

use std::path::Path;

use inorder_load::{Create, Error, Job, KeySpec, WriterChoice};
use rusqlite::Connection;

use super::{assert_whole, job, load, made, names, open, quick_pair, rows};

const ROWS: u32 = 5000;

/// Rows whose `b` is the `a` of another row.
const SOURCE: &str = "CREATE TABLE s AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) \
     SELECT i * 7919 % 10007 AS a, (i / 2 + 1) * 7919 % 10007 AS b, zeroblob(i % 300) AS c FROM n";

/// Loads into a table made by these statements. Returns why SQLite copied it, if it did.
fn why_copied(schema: &str) -> Option<String> {
    let (folder, from, to) = quick_pair(SOURCE, schema);
    let summary = load(&job(&from, &to, WriterChoice::Direct));
    let summary = summary.unwrap_or_else(|error| panic!("{error}: {schema}"));
    assert_eq!(summary.writer, "direct");
    assert_same_rows(&from, &to, schema);
    assert_eq!(names(folder.path()), ["from.db", "to.db"], "{schema}");
    let why = summary.notes.into_iter().next()?.text;
    let why = why.strip_prefix("SQLite copied the pages into the database: ");
    Some(why.expect("a reason").to_owned())
}

/// The table has the rows of the source, each index finds them, and the file ends where the database does.
fn assert_same_rows(from: &Path, to: &Path, case: &str) {
    let database = open(to);
    assert_whole(&database);
    let found = rows(&database, "SELECT a, b, c FROM t ORDER BY a");
    assert!(
        found == rows(&open(from), "SELECT a, b, c FROM s ORDER BY a"),
        "{case}"
    );
    let mode: String = database
        .query_row("PRAGMA journal_mode", [], |row| row.get(0))
        .expect("a mode");
    if mode == "wal" {
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        database
            .query_row(checkpoint, [], |_| Ok(()))
            .expect("written back");
    }
    let bytes = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
    let bytes: u64 = database
        .query_row(bytes, [], |row| row.get(0))
        .expect("a size");
    assert_eq!(to.metadata().expect("a file").len(), bytes, "{case}");
}

#[test]
fn a_database_is_extended_whatever_its_pages_and_encoding() {
    for setup in [
        "",
        "PRAGMA journal_mode = WAL;",
        "PRAGMA page_size = 512;",
        "PRAGMA page_size = 1024; PRAGMA journal_mode = WAL;",
        "PRAGMA page_size = 65536;",
        "PRAGMA encoding = 'UTF-16le';",
        "PRAGMA user_version = 9; CREATE TABLE other(x); INSERT INTO other VALUES (zeroblob(99999)); DELETE FROM other;",
    ] {
        for table in [
            "CREATE TABLE t(a, b, c)",
            "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c); CREATE INDEX i ON t(b, c)",
            "CREATE TABLE t(a PRIMARY KEY, b, c) WITHOUT ROWID; CREATE INDEX i ON t(c); CREATE INDEX j ON t(b DESC)",
            "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b, c)",
            "CREATE TABLE t(a UNIQUE, b REFERENCES t(a), c)",
            "CREATE TABLE t(a PRIMARY KEY, b, c); CREATE INDEX i ON t(b + 1, c); CREATE INDEX j ON t(b) WHERE b > 5",
            "CREATE TABLE t(a PRIMARY KEY, b, c) WITHOUT ROWID; CREATE INDEX i ON t(length(c))",
            "CREATE TABLE t(a PRIMARY KEY, b REFERENCES t(a), c) WITHOUT ROWID",
            "CREATE TABLE t(a PRIMARY KEY, b REFERENCES t(a), c) WITHOUT ROWID; CREATE INDEX \"an i\" ON t(length(c)); \
             CREATE INDEX j ON t(b, c)",
            "CREATE TABLE x(a, b, c, PRIMARY KEY(a)); CREATE INDEX i ON x(b); ALTER TABLE x RENAME TO T",
        ] {
            let schema = format!("{setup} {table}");
            assert_eq!(why_copied(&schema), None, "{schema}");
        }
    }
}

#[test]
fn the_reason_why_a_database_is_not_extended_is_told() {
    let table = "CREATE TABLE t(a PRIMARY KEY, b, c)";
    for (schema, words) in [
        (format!("PRAGMA auto_vacuum = FULL; {table}"), "auto_vacuum is on"),
        (format!("PRAGMA auto_vacuum = 2; PRAGMA journal_mode = WAL; {table}"), "auto_vacuum is on"),
        (
            format!("{table}; CREATE TABLE o AS SELECT zeroblob(5000000); DELETE FROM o"),
            "free pages",
        ),
        (
            "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b, c); INSERT INTO sqlite_sequence VALUES ('t', '3')"
                .to_owned(),
            "no integer",
        ),
    ] {
        let why = why_copied(&schema).unwrap_or_default();
        assert!(why.contains(words), "{why:?} of {schema}");
    }
}

#[test]
fn a_table_that_is_emptied_and_loaded_again_takes_no_more_room() {
    let (_folder, from, to) = quick_pair(
        SOURCE,
        "CREATE TABLE t(a PRIMARY KEY, b, c); CREATE INDEX i ON t(c)",
    );
    let bytes = |round: u32| {
        load(&job(&from, &to, WriterChoice::Direct))
            .unwrap_or_else(|error| panic!("{round}: {error}"));
        assert_same_rows(&from, &to, "again");
        open(&to).execute_batch("DELETE FROM t").expect("emptied");
        to.metadata().expect("a file").len()
    };
    let first = bytes(0);
    assert!(
        (1..5)
            .map(bytes)
            .all(|bytes| bytes < first + first / 4 + (1 << 20))
    );
}

#[test]
fn a_table_is_created_in_a_database_that_exists() {
    for (setup, source) in [
        (
            "CREATE TABLE other(x); INSERT INTO other VALUES ('kept')",
            SOURCE,
        ),
        (
            "CREATE TABLE other(x); INSERT INTO other VALUES ('kept')",
            "CREATE TABLE s(a, b, c)",
        ),
    ] {
        let (_folder, from, to) = quick_pair(source, setup);
        let create = Create {
            key: vec![KeySpec::parse("a").expect("a key")],
            ..Create::default()
        };
        let job = Job {
            create: Some(create),
            ..job(&from, &to, WriterChoice::Direct)
        };
        let summary = load(&job).expect("a load");
        assert!(summary.notes.is_empty(), "{:?}", summary.notes);
        assert_same_rows(&from, &to, source);
        assert_eq!(rows(&open(&to), "SELECT * FROM other"), ["'kept'"]);
    }
}

#[test]
fn a_reader_that_stays_keeps_the_old_content_and_the_length() {
    let (_folder, from, to) = quick_pair(SOURCE, "CREATE TABLE t(a PRIMARY KEY, b, c)");
    let before = to.metadata().expect("a file").len();
    let reader = open(&to);
    reader
        .execute_batch("BEGIN; SELECT * FROM t")
        .expect("begun");
    assert!(rows(&reader, "SELECT a FROM t").is_empty());
    let refused = load(&job(&from, &to, WriterChoice::Direct)).expect_err("a reader is there");
    assert!(matches!(refused, Error::Database { .. }), "{refused}");
    assert!(refused.to_string().contains("locked"), "{refused}");
    assert!(rows(&reader, "SELECT a FROM t").is_empty());
    assert_eq!(to.metadata().expect("a file").len(), before);
    reader.execute_batch("COMMIT").expect("ended");
    load(&job(&from, &to, WriterChoice::Direct)).expect("a load without a reader");
    assert_same_rows(&from, &to, "after the reader");
}

#[test]
fn locks_of_other_connections_of_the_process_stay() {
    let (_folder, from, to) = quick_pair(
        SOURCE,
        "PRAGMA journal_mode = WAL; CREATE TABLE t(a PRIMARY KEY, b, c)",
    );
    let reader = open(&to);
    reader.execute_batch("BEGIN").expect("begun");
    assert!(rows(&reader, "SELECT a FROM t").is_empty());
    load(&job(&from, &to, WriterChoice::Direct)).expect("a load");
    // Another process would delete the WAL when it closes the database, if this one had no lock any more.
    let other = std::process::Command::new("sqlite3")
        .arg(&to)
        .arg("SELECT count(*) FROM t")
        .output();
    match other {
        Ok(output) => assert_eq!(
            output.stdout,
            format!("{ROWS}\n").into_bytes(),
            "{output:?}"
        ),
        Err(_) => inorder_testing::skip("sqlite3 isn't installed (apt-get install sqlite3)"),
    }
    assert!(to.with_extension("db-wal").exists());
    assert!(rows(&reader, "SELECT a FROM t").is_empty());
}

#[test]
fn another_load_waits_for_the_lock() {
    let (_folder, from, to) = quick_pair(SOURCE, "CREATE TABLE t(a PRIMARY KEY, b, c)");
    let results: Vec<Result<_, Error>> = std::thread::scope(|scope| {
        let run = || load(&job(&from, &to, WriterChoice::Direct));
        let loads = [scope.spawn(run), scope.spawn(run)];
        loads.map(|load| load.join().expect("a thread")).into()
    });
    assert!(results.iter().any(Result::is_ok), "{results:?}");
    assert_same_rows(&from, &to, "two loads");
}

#[test]
fn what_lies_behind_the_end_is_cut_off() {
    let (_folder, from, to) = quick_pair(SOURCE, "CREATE TABLE t(a PRIMARY KEY, b, c)");
    let file = std::fs::File::options()
        .append(true)
        .open(&to)
        .expect("opened");
    std::io::Write::write_all(&mut &file, &vec![0xa5; 9_000_001]).expect("written");
    load(&job(&from, &to, WriterChoice::Direct)).expect("a load");
    assert_same_rows(&from, &to, "a tail");
    // Readers may have it open all the time.
    let reader: Connection = made(&to, "SELECT 1");
    assert_whole(&reader);
}

#[test]
fn old_content_of_pages_in_a_wal_does_not_come_back() {
    let (folder, from, to) = quick_pair(
        SOURCE,
        "PRAGMA journal_mode = WAL; CREATE TABLE t(a PRIMARY KEY, b, c)",
    );
    // Frames of pages behind the end stay in the WAL.
    let other = open(&to);
    other
        .execute_batch(
            "PRAGMA wal_autocheckpoint = 0; CREATE TABLE o AS SELECT zeroblob(3000000); DROP TABLE o; VACUUM",
        )
        .expect("a shorter database");
    load(&job(&from, &to, WriterChoice::Direct)).expect("a load");
    // What a power failure leaves: the index of the WAL is lost.
    let crashed = folder.path().join("crashed.db");
    std::fs::copy(&to, &crashed).expect("copied");
    std::fs::copy(
        folder.path().join("to.db-wal"),
        folder.path().join("crashed.db-wal"),
    )
    .expect("copied");
    assert_same_rows(&from, &crashed, "after a crash");
    assert_same_rows(&from, &to, "before it");
}
