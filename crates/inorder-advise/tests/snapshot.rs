//! The user's files are never written, and files that can't be read say why.

mod common;

use common::{advice, made, numbers, sampled};
use inorder_advise::{Change, Error, advice::Verdict};
use rusqlite::Connection;
use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
    time::SystemTime,
};

/// Bytes and times of every file in a folder.
fn state(folder: &Path) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let files = fs::read_dir(folder).unwrap().map(Result::unwrap);
    files
        .map(|file| {
            let name = file.file_name().to_string_lossy().into_owned();
            let modified = file.metadata().unwrap().modified().unwrap();
            (name, (fs::read(file.path()).unwrap(), modified))
        })
        .collect()
}

fn rows(count: u32) -> String {
    format!(
        "CREATE TABLE t(id TEXT PRIMARY KEY, a, b); CREATE INDEX ta ON t(a); CREATE INDEX tab ON t(a, b);
         {} INSERT INTO t SELECT lower(hex(randomblob(16))), i % 7, i FROM n;",
        numbers(count)
    )
}

#[test]
fn a_database_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path(), &rows(3000));
    let before = state(folder.path());
    let found = advice(&path).unwrap();
    assert!(!found.items.is_empty());
    assert!(state(folder.path()) == before);
}

/// The process of the next test that writes. Its locks and its map of the log's index are not those of the test.
#[test]
#[ignore = "a process of another test"]
fn writer() {
    let Ok(path) = std::env::var("WRITER_PATH") else {
        return;
    };
    let writer = Connection::open(path).unwrap();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    writer
        .execute_batch("PRAGMA wal_autocheckpoint = 0; INSERT INTO t VALUES ('in the log', 1, 2)")
        .unwrap();
    println!("\nready");
    std::io::stdin().lines().next();
    writer
        .execute_batch("INSERT INTO t VALUES ('later', 1, 2)")
        .unwrap();
}

#[test]
fn neither_a_log_nor_its_index_is_written_while_a_writer_lives() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path(), &rows(500));
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "writer", "--ignored", "--nocapture"])
        .env("WRITER_PATH", &path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "ready"));
    let before = state(folder.path());
    assert!(before.contains_key("app.db-wal") && before.contains_key("app.db-shm"));
    let found = advice(&path).unwrap();
    assert_eq!(found.database.table("t").unwrap().rows, 501);
    assert!(found.file.is_wal && found.file.wal_bytes > 0);
    assert!(state(folder.path()) == before);
    let estimate = sampled(&path, 30_000).unwrap();
    let rows = estimate.database.table("t").unwrap().rows;
    assert!((400..600).contains(&rows), "{rows}");
    assert!(state(folder.path()) == before);
    // The writer goes on.
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(
        advice(&path).unwrap().database.table("t").unwrap().rows,
        502
    );
}

#[test]
fn a_log_without_a_process_is_read_and_stays() {
    for keeps_index in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let source = tempfile::tempdir().unwrap();
        let path = made(source.path(), &rows(500));
        let writer = Connection::open(&path).unwrap();
        writer.pragma_update(None, "journal_mode", "wal").unwrap();
        writer
            .execute_batch(
                "PRAGMA wal_autocheckpoint = 0; INSERT INTO t VALUES ('in the log', 1, 2)",
            )
            .unwrap();
        // What a killed process leaves.
        for end in ["", "-wal", "-shm"] {
            if end != "-shm" || keeps_index {
                fs::copy(
                    source.path().join(format!("app.db{end}")),
                    folder.path().join(format!("app.db{end}")),
                )
                .unwrap();
            }
        }
        let before = state(folder.path());
        let found = advice(&folder.path().join("app.db")).unwrap();
        assert_eq!(
            found.database.table("t").unwrap().rows,
            501,
            "{keeps_index}"
        );
        assert!(state(folder.path()) == before, "{keeps_index}");
    }
}

#[test]
fn a_database_in_wal_mode_without_a_log_gets_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path(), &rows(500));
    let writer = Connection::open(&path).unwrap();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    drop(writer);
    let before = state(folder.path());
    assert_eq!(before.len(), 1);
    let found = advice(&path).unwrap();
    assert!(found.file.is_wal);
    assert!(state(folder.path()) == before);
}

#[test]
fn an_interrupted_transaction_is_rolled_back_in_the_copy_alone() {
    let folder = tempfile::tempdir().unwrap();
    let source = tempfile::tempdir().unwrap();
    let path = made(source.path(), &rows(5000));
    let writer = Connection::open(&path).unwrap();
    writer
        .execute_batch("PRAGMA cache_size = 5; BEGIN; UPDATE t SET b = 'changed'")
        .unwrap();
    for end in ["", "-journal"] {
        fs::copy(
            source.path().join(format!("app.db{end}")),
            folder.path().join(format!("app.db{end}")),
        )
        .unwrap();
    }
    let before = state(folder.path());
    assert!(!before["app.db-journal"].0.is_empty());
    let found = advice(&folder.path().join("app.db")).unwrap();
    let values = &found.database.table("t").unwrap().columns[2].values;
    assert_eq!((values.integers, values.texts), (5000, 0));
    assert!(state(folder.path()) == before);
}

#[test]
fn a_lock_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path(), &rows(100));
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert!(matches!(advice(&path), Err(Error::Busy { .. })));
}

#[test]
fn what_is_no_database_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let said = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        advice(&path).map(|_| ()).unwrap_err().to_string()
    };
    let random: Vec<u8> = (0..8192u64)
        .map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
        .collect();
    for (bytes, words) in [
        (&b"hello"[..], "begins with other bytes"),
        (&[0x37, 0x7f, 0x06, 0x82, 0, 0][..], "write-ahead log"),
        (
            &[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7][..],
            "rollback journal",
        ),
        (&[0x1f, 0x8b, 8][..], "compressed"),
        (b"SQLite format 3\0", "ends within its header"),
        (&random, "encrypted"),
    ] {
        let said = said(bytes);
        assert!(said.contains(words), "{said}");
    }
    assert!(matches!(
        advice(&folder.path().join("none")),
        Err(Error::File { .. })
    ));
}

#[test]
fn an_empty_database_has_no_advice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, b"").unwrap();
    assert!(advice(&path).unwrap().items.is_empty());
}

#[test]
fn a_newer_format_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path(), &rows(10));
    let bytes = fs::read(&path).unwrap();
    for (at, value, words) in [(47, 5, "schema format 5"), (19, 3, "file format 3")] {
        let mut changed = bytes.clone();
        changed[at] = value;
        fs::write(&path, changed).unwrap();
        let said = advice(&path).map(|_| ()).unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_damaged_database_is_read_as_far_as_it_goes_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path(), &rows(5000));
    let mut bytes = fs::read(&path).unwrap();
    // The pages of one table, in the middle of the file.
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 3 * 4096].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let found = advice(&path).unwrap();
    assert!(found.is_damaged && found.items.is_empty() && found.together.is_none());
    assert!(
        found
            .notes
            .iter()
            .any(|note| note.starts_with("integrity_check")),
        "{:?}",
        found.notes
    );
    assert_eq!(found.database.tables.len(), 1);
}

#[test]
fn a_file_that_was_cut_off_is_read_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path(), &rows(5000));
    let whole = fs::read(&path).unwrap();
    for kept in [1, 2, 7, whole.len() / 4096 - 1] {
        // An end within a page, too.
        for bytes in [kept * 4096, kept * 4096 + 99] {
            fs::write(&path, &whole[..bytes]).unwrap();
            let found = advice(&path).unwrap();
            assert!(found.is_damaged && found.items.is_empty() && found.together.is_none());
            let is_told = |words: &str| found.notes.iter().any(|note| note.contains(words));
            assert!(
                is_told("is cut off") && is_told("integrity_check"),
                "{:?}",
                found.notes
            );
            assert_eq!(found.database.tables.len(), 1);
            assert_eq!(fs::read(&path).unwrap(), whole[..bytes]);
        }
    }
}

#[test]
fn tables_that_need_what_is_missing_are_measured_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    let connection = Connection::open(&path).unwrap();
    connection
        .create_collation("unicase", |a: &str, b: &str| {
            a.to_lowercase().cmp(&b.to_lowercase())
        })
        .unwrap();
    let sql = "CREATE TABLE strange(id TEXT PRIMARY KEY COLLATE unicase, a); CREATE INDEX sa ON strange(a);
               CREATE INDEX sab ON strange(a, id); CREATE TABLE plain(id INTEGER PRIMARY KEY, a, b);
               CREATE INDEX pa ON plain(a); CREATE INDEX pab ON plain(a, b);";
    connection.execute_batch(sql).unwrap();
    let fill = |table: &str| {
        format!(
            "{} INSERT INTO {table} SELECT NULL, i, i FROM n",
            numbers(3000)
        )
    };
    connection.execute_batch(&fill("plain")).unwrap();
    let strange = format!(
        "{} INSERT INTO strange SELECT 'Key' || i, i FROM n",
        numbers(3000)
    );
    connection.execute_batch(&strange).unwrap();
    drop(connection);
    let found = advice(&path).unwrap();
    let proposed: Vec<&str> = found
        .items
        .iter()
        .filter(|item| item.verdict == Verdict::Change)
        .flat_map(|item| item.parts.iter().map(|part| part.candidate.object.as_str()))
        .collect();
    assert_eq!(proposed, ["pa"]);
    let plan = &found.together.as_ref().unwrap().plan;
    let index = "pa".to_owned();
    assert_eq!(plan.changes, [Change::DropIndex { index }]);
    assert_eq!(found.database.table("strange").unwrap().rows, 3000);
}

#[test]
fn a_file_of_a_known_program_gets_findings_and_no_plan() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(
        folder.path(),
        &(rows(3000) + "PRAGMA application_id = 252006673;"),
    );
    let found = advice(&path).unwrap();
    assert_eq!(found.program().map(|program| program.name), Some("Fossil"));
    assert!(found.together.is_none());
}

#[test]
fn the_private_folder_is_the_owners_alone_and_goes() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = inorder_advise::snapshot::private_folder().unwrap();
    let path = folder.path().to_owned();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o700
    );
    drop(folder);
    assert!(!path.exists());
    // What a killed process left goes with the next one.
    let left = std::env::temp_dir().join("inorder-advise-4194999-left");
    fs::create_dir(&left).unwrap();
    drop(inorder_advise::snapshot::private_folder().unwrap());
    assert!(!left.exists());
}
