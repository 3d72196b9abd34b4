//! SQLite rolls back the journals that are written here.

use std::fs::File;
use std::path::Path;

use inorder_btree::rollback;
use rusqlite::Connection;

fn made(path: &Path, page_bytes: u32, mark: &str, rows: u32) {
    let database = Connection::open(path).expect("a database");
    let sql = format!(
        "PRAGMA page_size = {page_bytes}; CREATE TABLE t(a, b); CREATE INDEX i ON t(b);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
         INSERT INTO t SELECT i, '{mark}' || hex(randomblob(i % 90)) FROM n"
    );
    database.execute_batch(&sql).expect("made");
}

/// The sum of all rows.
fn content(path: &Path) -> String {
    let database = Connection::open(path).expect("a database");
    let text = |sql: &str| -> String { database.query_row(sql, [], |row| row.get(0)).expect(sql) };
    assert_eq!(text("PRAGMA integrity_check"), "ok");
    text("SELECT count(*) || group_concat(a || b) FROM (SELECT a, b FROM t ORDER BY b)")
}

fn open(path: &Path) -> File {
    File::options()
        .read(true)
        .write(true)
        .open(path)
        .expect("opened")
}

#[test]
fn a_journal_restores_every_page_of_a_file_that_was_overwritten_in_part_or_whole() {
    for (page_bytes, new_page_bytes) in [(512, 512), (1024, 4096), (4096, 4096), (65536, 512)] {
        for (rows, new_rows) in [(2000, 100), (100, 2000), (20_000, 15_000)] {
            if rows > 2000 && page_bytes != 4096 {
                continue;
            }
            let folder = tempfile::tempdir().expect("a folder");
            let (path, new) = (folder.path().join("app.db"), folder.path().join("new.db"));
            let (prepared, journal) = (
                folder.path().join("old"),
                folder.path().join("app.db-journal"),
            );
            made(&path, page_bytes, "old", rows);
            made(&new, new_page_bytes, "new", new_rows);
            let (old_content, new_content) = (content(&path), content(&new));
            let old = std::fs::read(&path).expect("read");
            let write = |path: &Path| {
                let file = File::create_new(path).expect("created");
                rollback::journal(
                    &open(path.parent().expect("a folder").join("app.db").as_path()),
                    page_bytes,
                    &file,
                    || Ok(()),
                )
                .expect("written");
            };
            write(&prepared);
            rollback::overwrite(&open(&path), &open(&new)).expect("overwritten");
            assert_eq!(content(&path), new_content);
            // All of the new content, and parts of it.
            let whole = std::fs::read(&path).expect("read");
            for part in [whole.len(), whole.len() / 2, 100, 0] {
                let mut mixed = whole[..part].to_vec();
                mixed.extend_from_slice(old.get(part..).unwrap_or_default());
                std::fs::write(&path, mixed).expect("written");
                std::fs::copy(&prepared, &journal).expect("copied");
                assert_eq!(content(&path), old_content, "{page_bytes} {rows} {part}");
                assert_eq!(std::fs::read(&path).expect("read").len(), old.len());
                assert!(!journal.exists());
            }
        }
    }
}

#[test]
fn an_open_connection_reads_the_new_content() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, new) = (folder.path().join("app.db"), folder.path().join("new.db"));
    made(&path, 4096, "old", 100);
    made(&new, 4096, "new", 100);
    let reader = Connection::open(&path).expect("a database");
    let mut kept = reader
        .prepare("SELECT min(b) LIKE 'new%' FROM t")
        .expect("prepared");
    let mut is_new = || {
        kept.query_row([], |row| row.get::<_, bool>(0))
            .expect("read")
    };
    assert!(!is_new());
    let database = open(&path);
    rollback::overwrite(&database, &open(&new)).expect("overwritten");
    assert!(is_new());
}

#[test]
fn a_journal_that_is_not_finished_is_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, journal) = (
        folder.path().join("app.db"),
        folder.path().join("app.db-journal"),
    );
    made(&path, 4096, "old", 60_000);
    let before = content(&path);
    let file = File::create_new(&journal).expect("created");
    let mut blocks = 0;
    let stopped = rollback::journal(&open(&path), 4096, &file, || {
        blocks += 1;
        match blocks {
            1..3 => Ok(()),
            _ => Err(std::io::ErrorKind::Interrupted.into()),
        }
    });
    assert!(stopped.is_err() && file.metadata().expect("a file").len() > 0);
    assert_eq!(content(&path), before);
}
