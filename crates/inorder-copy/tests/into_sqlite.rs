//! Copies into SQLite, compared with the source, and killed before system calls that change a file.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use inorder_copy::{Job, Observer, Stop, Summary, run};
use rusqlite::Connection;

/// The variable with the folder of the killed process.
const FOLDER: &str = "INORDER_TEST_KILLED_COPY";

/// The system calls that change a file or wait for the disk.
const CALLS: &[&str] = &[
    "pwrite64",
    "write",
    "ftruncate",
    "fallocate",
    "fsync",
    "fdatasync",
    "unlink",
];

/// More than the copy of this test makes of one call.
const CALLS_MAX: u32 = 400;

/// Of the calls of a name, one in so many is stopped, unless `INORDER_STOPS=all`.
const SHARE: u32 = 12;

/// Every kind of table that a copy makes: with a counter, by a text, by two columns, without a key. The first one refers
/// to the last. A Z-A order of texts is not that of the integers.
const TABLES: &str = "
    CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, parent TEXT REFERENCES named(name), r REAL, b BLOB UNIQUE);
    CREATE TABLE loose (n, t);
    CREATE TABLE named (name TEXT PRIMARY KEY COLLATE NOCASE, n INTEGER DEFAULT 7) WITHOUT ROWID;
    CREATE TABLE none (k TEXT PRIMARY KEY, n INTEGER);
    CREATE TABLE pair (a INTEGER, b TEXT, large TEXT, PRIMARY KEY (a, b));
    CREATE INDEX by_r ON counted(r, parent);
    CREATE INDEX by_n ON named(n);
    CREATE TEMP TABLE i AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT i FROM n;
    INSERT INTO named SELECT printf('%c%d', 97 + i % 7, i * 7919 % 10007), nullif(i % 50, 3) FROM i;
    INSERT INTO counted SELECT i * 3, printf('%c%d', 97 + i % 7, i * 7919 % 10007), iif(i % 4, i / 8.0, -i), randomblob(20) FROM i;
    DELETE FROM counted WHERE id > 5900;
    INSERT INTO loose SELECT i % 10, 'text ' || i FROM i;
    INSERT INTO pair SELECT i % 100, 'ü' || i, iif(i % 500 = 0, hex(randomblob(9000)), 'short') FROM i";

const NAMES: &[&str] = &["counted", "loose", "named", "none", "pair"];

#[derive(Default)]
struct Quiet(Stop);

impl Observer for Quiet {
    fn table(&self, _: &str, _: u64) {}

    fn rows(&self, _: u64) {}

    fn stop(&self) -> &Stop {
        &self.0
    }
}

fn paths(folder: &Path) -> (PathBuf, PathBuf) {
    (folder.join("from.db"), folder.join("to.db"))
}

fn copy(folder: &Path) -> Summary {
    let (from, to) = paths(folder);
    let job = Job {
        from: from.display().to_string(),
        to: to.display().to_string(),
        schema: "public".to_owned(),
        tables: Vec::new(),
        excluded: Vec::new(),
        replaces: false,
        plan: None,
        is_dry: false,
    };
    run(&job, &Quiet::default()).expect("a copy")
}

fn made(path: &Path, statements: &str) {
    let db = Connection::open(path).expect("a database");
    db.execute_batch(statements).expect("made");
}

fn values(db: &Connection, sql: &str) -> Vec<String> {
    let mut statement = db.prepare(sql).expect(sql);
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        let value = |at| row.get::<_, rusqlite::types::Value>(at);
        let values: rusqlite::Result<Vec<_>> = (0..columns).map(value).collect();
        Ok(format!("{:?}", values?))
    });
    let rows: rusqlite::Result<Vec<String>> = rows.expect(sql).collect();
    rows.expect(sql)
}

/// The rows of a table in an order of their own.
fn rows_of(db: &Connection, table: &str) -> Vec<String> {
    let mut rows = values(db, &format!("SELECT * FROM {table}"));
    rows.sort();
    rows
}

fn assert_copied(folder: &Path, table: &str) {
    let (from, to) = paths(folder);
    let [from, to] = [from, to].map(|path| Connection::open(path).expect("opened"));
    let expected = rows_of(&from, table);
    assert_eq!(expected.is_empty(), table == "none");
    assert_eq!(rows_of(&to, table), expected, "{table}");
}

fn assert_whole(db: &Connection) {
    assert_eq!(values(db, "PRAGMA integrity_check"), ["[Text(\"ok\")]"]);
}

/// The tables of a copy, and those that it has recorded as finished; `None` if it records none any more.
fn found(db: &Connection) -> (Vec<String>, Option<Vec<String>>) {
    let names = |sql: &str| -> Vec<String> {
        let mut statement = db.prepare(sql).expect(sql);
        let names = statement.query_map([], |row| row.get(0)).expect(sql);
        names.collect::<Result<_, _>>().expect(sql)
    };
    let mut tables = names(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1",
    );
    let state = tables.iter().position(|name| name == "_inorder_copy");
    let finished = state.map(|state| {
        tables.remove(state);
        names("SELECT name FROM _inorder_copy WHERE name <> '' ORDER BY 1")
    });
    (tables, finished)
}

/// What the destination is before the copy.
const DESTINATIONS: &[&str] = &[
    "",
    "PRAGMA journal_mode = WAL; CREATE TABLE beside (x)",
    "PRAGMA auto_vacuum = FULL; CREATE TABLE beside (x)",
    "PRAGMA encoding = 'UTF-16le'; CREATE TABLE beside (x)",
    // Free pages, which SQLite fills.
    "CREATE TABLE beside (x); INSERT INTO beside VALUES (zeroblob(3000000)); DELETE FROM beside",
    "PRAGMA page_size = 512; CREATE TABLE beside (x)",
];

#[test]
fn tables_have_the_rows_keys_and_counters_of_the_source() {
    for before in DESTINATIONS {
        let folder = tempfile::tempdir().expect("a folder");
        let (from, to) = paths(folder.path());
        made(&from, TABLES);
        made(&to, before);
        let summary = copy(folder.path());
        let names: Vec<&str> = summary.tables.iter().map(|table| &*table.name).collect();
        assert_eq!(names, NAMES);
        for table in NAMES {
            assert_copied(folder.path(), table);
        }
        let by_statements = |note: &&String| note.contains("statements");
        assert_eq!(summary.notes.iter().find(by_statements), None);
        let db = Connection::open(&to).expect("opened");
        assert_whole(&db);
        assert!(values(&db, "PRAGMA foreign_key_check").is_empty());
        let indexes = "SELECT tbl_name, group_concat(name, ' ') FROM (SELECT * FROM sqlite_schema WHERE type = 'index' ORDER BY name)
                       WHERE sql <> '' GROUP BY 1";
        assert_eq!(
            values(&db, indexes),
            [
                r#"[Text("counted"), Text("by_r")]"#,
                r#"[Text("named"), Text("by_n")]"#
            ]
        );
        let last = "SELECT name, seq FROM sqlite_sequence";
        assert_eq!(values(&db, last), [r#"[Text("counted"), Integer(6000)]"#]);
        let inserted = "INSERT INTO named(name) VALUES ('new') RETURNING n";
        assert_eq!(values(&db, inserted), ["[Integer(7)]"]);
        // The same contents have the same hashes, wherever they are.
        let again = tempfile::tempdir().expect("a folder");
        db.execute_batch("DELETE FROM named WHERE name = 'new'")
            .expect("deleted");
        drop(db);
        std::fs::copy(&to, again.path().join("from.db")).expect("copied");
        let contents = |summary: &Summary| -> Vec<String> {
            let tables = summary.tables.iter().filter(|table| table.name != "beside");
            tables.map(|table| table.content.clone()).collect()
        };
        assert_eq!(contents(&copy(again.path())), contents(&summary));
    }
}

/// The killed process. It does nothing when run on its own.
#[test]
fn killed() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        copy(Path::new(&folder));
    }
}

/// Runs the copy in a process that strace kills at the n-th call of a name.
fn killed_at(folder: &Path, call: &str, n: u32) -> ExitStatus {
    Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null"])
        .args(["-e", &format!("trace={call}")])
        .args(["-e", &format!("inject={call}:signal=SIGKILL:when={n}")])
        .arg(std::env::current_exe().expect("this test"))
        .args(["--exact", "killed", "--test-threads=1", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("strace")
}

#[test]
fn a_killed_copy_has_whole_tables_only_and_goes_on() {
    let mut strace = Command::new("strace");
    let strace = strace.arg("-V").stdout(Stdio::null());
    if !strace.status().is_ok_and(|status| status.success()) {
        inorder_testing::skip("strace isn't installed (apt-get install strace)");
        return;
    }
    let step = match std::env::var("INORDER_STOPS").as_deref() {
        Ok("all") => 1,
        _ => SHARE as usize,
    };
    let memory = tempfile::tempdir_in("/dev/shm");
    let folder = memory.unwrap_or_else(|_| tempfile::tempdir().expect("a folder"));
    let (from, to) = paths(folder.path());
    made(&from, TABLES);
    let (mut stops, mut partial) = (0, 0);
    for (journal, first) in [("DELETE", 1), ("WAL", 2)] {
        for call in CALLS {
            for n in (first..CALLS_MAX).step_by(step) {
                for suffix in ["", "-wal", "-journal", "-shm", ".inorder-load"] {
                    _ = std::fs::remove_file(folder.path().join(format!("to.db{suffix}")));
                }
                made(&to, &format!("PRAGMA journal_mode = {journal}"));
                let case = format!("{journal}, {call} {n}");
                let status = killed_at(folder.path(), call, n);
                if status.success() {
                    break;
                }
                assert!(status.signal().is_some(), "{case}: {status}");
                stops += 1;
                let db = Connection::open(&to).expect("opened");
                assert_whole(&db);
                let (tables, finished) = found(&db);
                drop(db);
                for table in &tables {
                    assert_copied(folder.path(), table);
                }
                if let Some(finished) = &finished {
                    assert_eq!(*finished, tables, "{case}");
                    partial += u32::from(!tables.is_empty());
                    let summary = copy(folder.path());
                    let kept = summary.tables.iter().filter(|table| table.was_finished);
                    let kept: Vec<&String> = kept.map(|table| &table.name).collect();
                    assert!(kept.into_iter().eq(&tables), "{case}");
                } else if tables.is_empty() {
                    copy(folder.path());
                }
                for table in NAMES {
                    assert_copied(folder.path(), table);
                }
                assert_whole(&Connection::open(&to).expect("opened"));
            }
        }
    }
    println!("{stops} stops, {partial} of them with some tables");
    assert!(partial > 0 && stops > partial);
}
