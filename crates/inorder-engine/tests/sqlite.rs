//! Behaviour specific to SQLite: locks by readers, and databases in memory.

use inorder_engine::{
    Batch, Column, Database, Engine, Error, Journal, Retry, Settings, sqlite::Sqlite,
};
use rusqlite::Connection;
use std::{path::Path, time::Duration};

fn create(folder: &Path, journal: Journal) -> Box<dyn Database> {
    let settings = Settings {
        journal,
        ..Settings::default()
    };
    let database = Sqlite.create(folder, &settings).unwrap();
    database.execute("CREATE TABLE t(x INTEGER)").unwrap();
    database
}

fn row(value: i64) -> Batch {
    Batch {
        columns: vec![Column::Integers(vec![value])],
    }
}

#[test]
fn a_commit_held_up_by_a_reader_is_retried_and_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let database = create(folder.path(), Journal::Delete);
    let retry = Retry {
        retries_max: 3,
        pause: Duration::from_micros(10),
    };
    let mut writer = database.writer("t", &["x"], retry).unwrap();
    let reader = Connection::open(folder.path().join("inorder.db")).unwrap();
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM t")
        .unwrap();
    writer.begin().unwrap();
    writer.insert(&row(1), 0..1).unwrap();
    let error = writer.commit().unwrap_err();
    assert!(matches!(error, Error::Busy { retries: 3 }), "{error}");
    assert_eq!(writer.retries(), 3);
    reader.execute_batch("COMMIT").unwrap();
    writer.commit().unwrap();
    assert_eq!(database.count("t").unwrap(), 1);
}

#[test]
fn a_query_held_up_by_a_commit_is_retried() {
    let folder = tempfile::tempdir().unwrap();
    let database = create(folder.path(), Journal::Delete);
    let mut reader = database.reader("SELECT * FROM t").unwrap();
    let exclusive = Connection::open(folder.path().join("inorder.db")).unwrap();
    exclusive
        .execute_batch("BEGIN EXCLUSIVE; INSERT INTO t VALUES(1)")
        .unwrap();
    std::thread::scope(|scope| {
        let query = scope.spawn(|| reader.query(&Batch::default(), 0));
        std::thread::sleep(Duration::from_millis(20));
        exclusive.execute_batch("COMMIT").unwrap();
        assert_eq!(query.join().unwrap().unwrap(), 1);
    });
}

#[test]
fn a_checkpoint_passes_what_a_reader_still_needs() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        checkpoint_pages: 1,
        ..Settings::default()
    };
    let database = Sqlite.create(folder.path(), &settings).unwrap();
    database.execute("CREATE TABLE t(x INTEGER)").unwrap();
    let reader = Connection::open(folder.path().join("inorder.db")).unwrap();
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM t")
        .unwrap();
    let mut writer = database.writer("t", &["x"], Retry::default()).unwrap();
    for value in 0..3 {
        writer.begin().unwrap();
        writer.insert(&row(value), 0..1).unwrap();
        writer.commit().unwrap();
        assert!(writer.checkpoint_if_due().unwrap());
    }
    let error = database.quiesce().unwrap_err();
    assert!(
        error.to_string().contains("holds a transaction open"),
        "{error}"
    );
    drop(reader);
    database.quiesce().unwrap();
}

#[test]
fn pages_in_memory_only_can_not_be_forgotten() {
    // On Linux, /dev/shm is a tmpfs.
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let database = create(folder.path(), Journal::Wal);
    assert!(!database.forget_cached_pages().unwrap());
}
