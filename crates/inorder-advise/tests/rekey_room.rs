//! What a rekey needs on the disk, and what it says of that.

mod common;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use common::{made, numbers};
use inorder_advise::{Change, Progress, Rekey};
use rusqlite::Connection;

/// Bytes that the last rekey said it needs, of one test at a time.
static NEEDED: AtomicU64 = AtomicU64::new(0);
static ONE: Mutex<()> = Mutex::new(());

/// Rekeys a database. Returns the bytes that it said it needs, and whether free pages are left.
fn rekey(path: &Path, changes: Vec<Change>) -> (u64, bool) {
    let rekey = Rekey {
        path: path.to_owned(),
        changes,
        memory_bytes: 64 << 20,
        wait: Duration::ZERO,
        rebuilds_all: false,
    };
    let _one = ONE.lock().unwrap_or_else(|error| error.into_inner());
    NEEDED.store(0, Ordering::SeqCst);
    let progress = Progress::default().on_room(|bytes| NEEDED.store(bytes, Ordering::SeqCst));
    let done = rekey.run(&progress).unwrap();
    (NEEDED.load(Ordering::SeqCst), done.has_free_pages)
}

fn text(path: &Path, query: &str) -> String {
    let database = Connection::open(path).unwrap();
    database.query_row(query, [], |row| row.get(0)).unwrap()
}

fn drop(index: &str) -> Change {
    Change::DropIndex {
        index: index.into(),
    }
}

/// A drop leaves no free page and changes no row, in every mode of the file.
#[test]
fn a_drop_copies_nothing() {
    for settings in [
        "PRAGMA auto_vacuum = NONE",
        "PRAGMA auto_vacuum = FULL",
        "PRAGMA auto_vacuum = INCREMENTAL",
        "PRAGMA auto_vacuum = NONE; PRAGMA journal_mode = WAL",
        "PRAGMA auto_vacuum = FULL; PRAGMA journal_mode = WAL",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let rows = numbers(20_000);
        let path = folder.path().join("app.db");
        let database = Connection::open(&path).unwrap();
        database.execute_batch(settings).unwrap();
        std::mem::drop(database);
        let sql = format!(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b TEXT, n); CREATE INDEX ta ON t(a); CREATE INDEX tab ON t(a, b);
             CREATE INDEX tn ON t(n); {rows} INSERT INTO t SELECT i, i * 7 % 1000, 'text ' || i, NULL FROM n;"
        );
        Connection::open(&path)
            .unwrap()
            .execute_batch(&sql)
            .unwrap();
        let rows = "SELECT group_concat(id || b) FROM (SELECT * FROM t ORDER BY id)";
        let (before, bytes) = (text(&path, rows), path.metadata().unwrap().len());
        let partial = Change::PartialIndex {
            index: "tn".into(),
            column: "n".into(),
        };
        let (needed, has_free_pages) = rekey(&path, vec![drop("ta"), partial]);
        // Where there is room, trees with much unused space are built anew. SQL builds nothing.
        let most = match settings.contains("NONE") {
            true => bytes,
            false => 0,
        };
        assert!(needed <= most, "{settings}: {needed} of {bytes}");
        assert!(!has_free_pages, "{settings}");
        assert!(
            path.metadata().unwrap().len() < bytes * 9 / 10,
            "{settings}"
        );
        assert_eq!(text(&path, rows), before, "{settings}");
        assert_eq!(text(&path, "PRAGMA integrity_check"), "ok");
        let left = "SELECT group_concat(sql) FROM sqlite_schema WHERE type = 'index'";
        let left = text(&path, left);
        assert!(
            left.contains("tab") && left.contains("IS NOT NULL") && !left.contains("ta ON"),
            "{left}"
        );
    }
}

/// What is told grows with the tables that change, and not with the file.
#[test]
fn the_room_is_that_of_the_tables_that_change() {
    let folder = tempfile::tempdir().unwrap();
    let rows = numbers(20_000);
    let sql = format!(
        "CREATE TABLE large(id INTEGER PRIMARY KEY, b TEXT); {rows} INSERT INTO large SELECT i, printf('%0200d', i) FROM n;
         CREATE TABLE small(k TEXT NOT NULL PRIMARY KEY, v); {rows} INSERT INTO small SELECT 'key ' || i, i FROM n WHERE i % 10 = 0;"
    );
    let path = made(folder.path(), &sql);
    let bytes = path.metadata().unwrap().len();
    let (needed, _) = rekey(
        &path,
        vec![Change::WithoutRowid {
            table: "small".into(),
        }],
    );
    assert!(
        needed > 40_000 && needed < bytes / 10,
        "{needed} of {bytes}"
    );
    let (needed, _) = rekey(&path, vec![Change::Vacuum]);
    assert!(needed >= 2 * bytes * 9 / 10, "{needed} of {bytes}");
}
