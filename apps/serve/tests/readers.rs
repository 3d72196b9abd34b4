//! Tests readers beside a writer: what they see, and what they hold up.

use inorder_serve::{PoolClosed, QueueError, QueueLimits, ReaderPool, WriteQueue};
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Closed(#[from] PoolClosed),
    #[error(transparent)]
    Queue(#[from] QueueError),
}

type Pool = ReaderPool<Error>;

fn start(file: &Path) -> (Arc<Pool>, WriteQueue) {
    let writer = Connection::open(file).unwrap();
    writer
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE note(id INTEGER PRIMARY KEY)")
        .unwrap();
    let opened = file.to_owned();
    let pool = ReaderPool::new(4, move || Ok(Connection::open(&opened)?));
    let pool = Arc::new(pool.keeping_snapshots());
    let queue = WriteQueue::start_beside(&pool, writer, QueueLimits::default()).unwrap();
    (pool, queue)
}

fn add(queue: &WriteQueue) {
    let added = queue.run(|db| Ok::<_, Error>(db.execute("INSERT INTO note DEFAULT VALUES", [])?));
    assert_eq!(added.unwrap(), 1);
}

fn count(connection: &Connection) -> Result<i64, Error> {
    let mut statement = connection.prepare_cached("SELECT count(*) FROM note")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

/// Reads until a reader keeps its snapshot: right after a write it may not.
fn keep(pool: &Pool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    let is_kept = |connection: &Connection| {
        count(connection)?;
        Ok(!connection.is_autocommit())
    };
    while !pool.read_one(is_kept).unwrap() {
        assert!(Instant::now() < deadline, "no snapshot is kept");
        thread::yield_now();
    }
}

#[test]
fn a_reader_sees_each_write_that_was_answered() {
    let folder = tempfile::tempdir().unwrap();
    let (pool, queue) = start(&folder.path().join("a.db"));
    for written in 1..50 {
        add(&queue);
        assert_eq!(pool.read_one(count).unwrap(), written);
        assert_eq!(pool.read_snapshot(count).unwrap(), written);
        assert_eq!(pool.read(count).unwrap(), written);
    }
}

#[test]
fn a_reader_that_reads_while_another_writes_has_one_snapshot_and_the_next_one_the_latest() {
    let folder = tempfile::tempdir().unwrap();
    let (pool, queue) = start(&folder.path().join("a.db"));
    add(&queue);
    let seen = pool.read_snapshot(|connection| {
        let before = count(connection)?;
        add(&queue);
        Ok((before, count(connection)?))
    });
    assert_eq!(seen.unwrap(), (1, 1));
    assert_eq!(pool.read_snapshot(count).unwrap(), 2);
}

#[test]
fn a_kept_snapshot_holds_up_no_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.db");
    let (pool, queue) = start(&file);
    for _ in 0..3 {
        add(&queue);
        keep(&pool);
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let is_busy = queue.run_alone(|db| {
            let busy: i64 = db.query_row(sql, [], |row| row.get(0))?;
            Ok::<_, Error>(busy)
        });
        assert_eq!(is_busy.unwrap(), 0);
        let log = folder.path().join("a.db-wal");
        assert_eq!(std::fs::metadata(log).unwrap().len(), 0);
    }
}

#[test]
fn work_outside_of_a_transaction_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let (pool, _queue) = start(&folder.path().join("a.db"));
    keep(&pool);
    let copy = folder.path().join("copy.db");
    let copied = pool.read(|connection| {
        assert!(connection.is_autocommit());
        inorder_serve::copy_database(connection, &copy).map_err(|error| panic!("{error}"))
    });
    copied.unwrap();
    assert!(copy.exists());
}

#[test]
fn a_pool_that_is_closed_keeps_nothing_open() {
    let folder = tempfile::tempdir().unwrap();
    let (pool, queue) = start(&folder.path().join("a.db"));
    keep(&pool);
    drop(queue);
    pool.close();
    assert!(matches!(pool.read_one(count), Err(Error::Closed(_))));
    let log = folder.path().join("a.db-wal");
    assert!(!log.exists(), "the last connection removes the log");
}

#[test]
fn a_writer_without_a_queue_announces_its_transactions() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.db");
    let writer = Connection::open(&file).unwrap();
    writer
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE note(id INTEGER PRIMARY KEY)")
        .unwrap();
    let pool: Pool = ReaderPool::new(4, move || Ok(Connection::open(&file)?)).keeping_snapshots();
    for written in 1..20 {
        keep(&pool);
        let writing = pool.writing();
        writer
            .execute("INSERT INTO note DEFAULT VALUES", [])
            .unwrap();
        let is_kept =
            |connection: &Connection| Ok((count(connection)?, connection.is_autocommit()));
        assert_eq!(pool.read_one(is_kept).unwrap(), (written, true));
        drop(writing);
        assert_eq!(pool.read_snapshot(count).unwrap(), written);
    }
}
