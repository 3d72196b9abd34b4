//! The counters of the SQLite engine: exact, repeatable, and under the right kind of file.

use inorder_engine::{
    Batch, Column, Database, Engine, Io, Journal, Retry, Settings, sqlite::Sqlite,
};
use std::{fs, path::Path};

fn create(folder: &Path, journal: Journal) -> Box<dyn Database> {
    let settings = Settings {
        journal,
        ..Settings::default()
    };
    let database = Sqlite.create(folder, &settings).unwrap();
    database
        .execute("CREATE TABLE t(x INTEGER PRIMARY KEY, y BLOB UNIQUE)")
        .unwrap();
    database
}

/// Ten transactions of rows that are the same on every call; what they cost.
fn write(database: &dyn Database) -> Io {
    let rows = 5000;
    let hash = |row: u64| row.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    let batch = Batch {
        columns: vec![
            Column::Integers((0..rows as i64).collect()),
            Column::Fixed {
                width_bytes: 8,
                bytes: (0..rows).flat_map(hash).collect(),
                is_text: false,
            },
        ],
    };
    let before = database.io();
    let mut writer = database.writer("t", &["x", "y"], Retry::default()).unwrap();
    for part in 0..10 {
        writer.begin().unwrap();
        writer.insert(&batch, part * 500..(part + 1) * 500).unwrap();
        writer.commit().unwrap();
        writer.checkpoint_if_due().unwrap();
    }
    database.quiesce().unwrap();
    database.io() - before
}

/// The parts of the database something was written to.
fn written_parts(io: &Io) -> Vec<&'static str> {
    let parts = io.files.iter();
    parts
        .filter(|(_, io)| io.written_bytes > Some(0))
        .map(|(name, _)| *name)
        .collect()
}

/// Counters of what is written. Reads depend on the other tests of the process: with `SQLITE_ENABLE_MEMORY_MANAGEMENT`, as rusqlite
/// compiles SQLite, the connections of a process share their caches' pages.
fn without_reads(mut io: Io) -> Io {
    for (_, file) in &mut io.files {
        (file.read_bytes, file.reads) = (None, None);
    }
    io
}

#[test]
fn the_same_rows_cost_the_same_every_time() {
    for &journal in Journal::ALL {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [first, second] = folders
            .each_ref()
            .map(|folder| without_reads(write(&*create(folder.path(), journal))));
        assert_eq!(first, second, "{journal:?}");
        assert!(first.total().written_bytes > Some(100_000));
    }
}

#[test]
fn each_journal_mode_writes_to_its_own_files() {
    for &journal in Journal::ALL {
        let folder = tempfile::tempdir().unwrap();
        let io = write(&*create(folder.path(), journal));
        let wanted: &[_] = match journal {
            Journal::Wal => &["main", "wal"],
            Journal::Delete | Journal::Truncate | Journal::Persist => &["main", "journal"],
            Journal::Memory | Journal::Off => &["main"],
        };
        assert_eq!(written_parts(&io), wanted, "{journal:?}");
    }
}

#[test]
fn a_vacuum_copies_through_a_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        cache_kib: 40,
        journal: Journal::Delete,
        ..Settings::default()
    };
    let database = Sqlite.create(folder.path(), &settings).unwrap();
    database
        .execute(
            "CREATE TABLE t AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n
                 WHERE x < 20000) SELECT x, randomblob(100) AS y FROM n",
        )
        .unwrap();
    let before = database.io();
    database.vacuum().unwrap();
    let io = database.io() - before;
    assert!(io.file("temp").written_bytes.unwrap() > 2_000_000, "{io:?}");
    assert!(io.file("main").written_bytes.unwrap() > 2_000_000, "{io:?}");
}

#[test]
fn a_fresh_wal_database_is_written_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let database = create(folder.path(), Journal::Wal);
    database.quiesce().unwrap();
    let before = database.io();
    database.execute("INSERT INTO t VALUES(1, x'00')").unwrap();
    let io = database.io() - before;
    // One frame (24 bytes and a page) for the table, one for the index, after the log's header.
    assert_eq!(io.file("wal").written_bytes.unwrap(), 32 + 2 * (24 + 4096));
    assert_eq!(io.file("main").written_bytes.unwrap(), 0);
    let wal = fs::metadata(folder.path().join("inorder.db-wal")).unwrap();
    assert_eq!(wal.len(), io.file("wal").written_bytes.unwrap());

    let before = database.io();
    database.quiesce().unwrap();
    let io = database.io() - before;
    assert_eq!(
        (
            io.file("main").written_bytes.unwrap(),
            io.file("main").writes.unwrap()
        ),
        (2 * 4096, 2)
    );
    assert_eq!(
        (
            io.file("main").syncs.unwrap(),
            io.file("wal").syncs.unwrap()
        ),
        (1, 1)
    );
}

#[test]
fn mapped_reads_are_not_seen() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        mmap_bytes: 1 << 28,
        cache_kib: 40,
        journal: Journal::Delete,
        ..Settings::default()
    };
    let database = Sqlite.create(folder.path(), &settings).unwrap();
    database
        .execute("CREATE TABLE t(x INTEGER PRIMARY KEY, y BLOB UNIQUE)")
        .unwrap();
    write(&*database);
    let before = database.io().file("main");
    let mut reader = database.reader("SELECT * FROM t ORDER BY y").unwrap();
    assert_eq!(reader.query(&Batch::default(), 0).unwrap(), 5000);
    let read = database.io().file("main") - before;
    assert!(read.read_bytes < Some(10_000), "{read:?}");
}

#[test]
fn databases_count_apart() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [busy, idle] = folders
        .each_ref()
        .map(|folder| create(folder.path(), Journal::Wal));
    let before = idle.io();
    write(&*busy);
    assert_eq!(idle.io(), before);
}
