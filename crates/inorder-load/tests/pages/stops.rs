//! A load into an empty table of an existing database, killed before each system call that changes a file, and failed by
//! each. The database has the old content or the new one after each.
//!
//! strace stops the process: `inject` of `strace(1)` kills it when it enters its n-th call of a name, or lets that call fail.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use inorder_load::{Create, Existing, ForeignKey, FullText, Job, KeySpec, WriterChoice};
use rusqlite::Connection;

use super::{assert_whole, job, load, made, names, open, rows};

/// The variable with the folder of the traced process.
const FOLDER: &str = "INORDER_TEST_STOPPED_LOAD";

/// The system calls that change a file or wait for the disk. SQLite and the loader write by no others.
const CALLS: &[&str] = &[
    "pwrite64",
    "write",
    "ftruncate",
    "fallocate",
    "fsync",
    "fdatasync",
    "unlink",
];

/// More than any load of this test makes of one call.
const CALLS_MAX: u32 = 400;

/// Of the calls of a name, one in so many is stopped, unless `INORDER_STOPS=all`. Each case takes other ones.
const SHARE: u32 = 4;

const ROWS: u32 = 800;

/// What the database is before: its statements, and whether another connection left a WAL or a journal behind.
struct Before {
    name: &'static str,
    statements: &'static str,
    left: Left,
}

/// What another process left beside the database.
#[derive(Clone, Copy, PartialEq)]
enum Left {
    Nothing,
    /// A journal that must be rolled back.
    HotJournal,
    /// A WAL with commits that are not in the file.
    Wal,
    /// Pages behind the end.
    Tail,
}

const TABLE: &str = "CREATE TABLE beside(x); INSERT INTO beside VALUES (zeroblob(9000)), ('kept'); \
    CREATE TABLE t(id TEXT PRIMARY KEY, n, UNIQUE(n)) WITHOUT ROWID; CREATE INDEX i ON t(n, id)";

const COUNTED: &str = "CREATE TABLE beside(x); INSERT INTO beside VALUES (zeroblob(9000)), ('kept'); \
    CREATE TABLE t(n INTEGER PRIMARY KEY AUTOINCREMENT, id); INSERT INTO t VALUES (9, 'gone'); DELETE FROM t; \
    CREATE UNIQUE INDEX i ON t(id)";

/// Tables of which SQLite builds indexes after the rows.
const LEFT_TO_SQLITE: &str = "CREATE TABLE beside(x); INSERT INTO beside VALUES (zeroblob(9000)), ('kept'); \
    CREATE TABLE t(id TEXT PRIMARY KEY, n) WITHOUT ROWID; CREATE INDEX i ON t(n) WHERE n % 2; \
    CREATE INDEX j ON t(upper(id), n); CREATE INDEX k ON t(n)";

/// A table with as many rows as are loaded, between them.
macro_rules! filled {
    ($setup:literal, $table:literal) => {
        concat!(
            $setup,
            "CREATE TABLE beside(x); INSERT INTO beside VALUES (zeroblob(9000)), ('kept'); \
             CREATE TABLE t",
            $table,
            "; CREATE INDEX i ON t(n, id); \
             INSERT INTO t(id, n) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 800) \
             SELECT hex(CAST(i * 7919 % 10007 AS TEXT)) || printf('%040d', -i), -i FROM n"
        )
    };
}

const FILLED: &str = filled!("", "(id TEXT PRIMARY KEY, n, UNIQUE(n)) WITHOUT ROWID");
const FILLED_WAL: &str = filled!(
    "PRAGMA journal_mode = WAL;",
    "(id TEXT PRIMARY KEY, n, UNIQUE(n)) WITHOUT ROWID"
);
/// The rows come after those that are there.
const FILLED_BEFORE: &str = filled!("", "(n INTEGER PRIMARY KEY, id UNIQUE)");

/// A table that is created again with a full-text index and a foreign key.
const SEARCHED: &str = "CREATE TABLE beside(x); INSERT INTO beside VALUES (zeroblob(9000)), ('kept'); \
    CREATE TABLE p(n INTEGER PRIMARY KEY); INSERT INTO p WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n \
    WHERE i < 800) SELECT i FROM n; CREATE TABLE t(n INTEGER PRIMARY KEY, id)";

/// What creates its own table.
const WITH_TABLE: &[&str] = &[
    COUNTED,
    LEFT_TO_SQLITE,
    FILLED,
    FILLED_WAL,
    FILLED_BEFORE,
    SEARCHED,
];

const CASES: &[Before] = &[
    Before {
        name: "delete",
        statements: "",
        left: Left::Nothing,
    },
    Before {
        name: "persist",
        statements: "PRAGMA journal_mode = PERSIST;",
        left: Left::Nothing,
    },
    Before {
        name: "truncate",
        statements: "PRAGMA journal_mode = TRUNCATE;",
        left: Left::Nothing,
    },
    Before {
        name: "wal",
        statements: "PRAGMA journal_mode = WAL;",
        left: Left::Nothing,
    },
    Before {
        name: "wal with frames",
        statements: "PRAGMA journal_mode = WAL;",
        left: Left::Wal,
    },
    Before {
        name: "hot journal",
        statements: "",
        left: Left::HotJournal,
    },
    Before {
        name: "tail",
        statements: "",
        left: Left::Tail,
    },
    Before {
        name: "small pages",
        statements: "PRAGMA page_size = 1024;",
        left: Left::Nothing,
    },
    Before {
        name: "counted",
        statements: COUNTED,
        left: Left::Nothing,
    },
    Before {
        name: "left to SQLite",
        statements: LEFT_TO_SQLITE,
        left: Left::Nothing,
    },
    Before {
        name: "merge",
        statements: FILLED,
        left: Left::Nothing,
    },
    Before {
        name: "merge in a WAL",
        statements: FILLED_WAL,
        left: Left::Wal,
    },
    Before {
        name: "append",
        statements: FILLED_BEFORE,
        left: Left::Nothing,
    },
    Before {
        name: "full text",
        statements: SEARCHED,
        left: Left::Nothing,
    },
];

/// The load of a case. A database with the table `p` gets `t` with a full-text index.
fn job_of(folder: &Path) -> Job {
    let (from, to) = paths(folder);
    let job = job(&from, &to, WriterChoice::Direct);
    let parents = "SELECT 1 FROM sqlite_schema WHERE name = 'p'";
    if rows(&Connection::open(&to).expect("opened"), parents).is_empty() {
        return job;
    }
    let create = Create {
        key: vec![KeySpec::parse("n").expect("a key")],
        foreign_keys: vec![ForeignKey::parse("n=p").expect("a key")],
        full_text: Some(FullText {
            columns: vec!["id".to_owned()],
            tokenizer: None,
        }),
        ..Create::default()
    };
    Job {
        create: Some(create),
        existing: Existing::Replace,
        ..job
    }
}

const ID: &str = "hex(CAST(i * 7919 % 10007 AS TEXT)) || printf('%040d', i)";

fn paths(folder: &Path) -> (PathBuf, PathBuf) {
    (folder.join("from.db"), folder.join("to.db"))
}

/// The traced process. It does nothing when run on its own.
#[test]
fn stopped() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let loaded = load(&job_of(Path::new(&folder))).expect("a load");
    let is_merge = |note: &inorder_load::Note| {
        note.text.contains("to the rows that were there")
            || note.text.contains("with the rows that were there")
    };
    assert!(loaded.notes.iter().all(is_merge), "{:?}", loaded.notes);
}

/// Makes a database and what another process left beside it.
fn prepare(folder: &Path, before: &Before) {
    let made_at = folder.join("made.db");
    let database = made(&made_at, before.statements);
    if !WITH_TABLE.contains(&before.statements) {
        database.execute_batch(TABLE).expect("made");
    }
    match before.left {
        Left::Wal => database.execute_batch("PRAGMA wal_checkpoint; INSERT INTO beside VALUES (zeroblob(70000))"),
        Left::HotJournal => database.execute_batch(
            "PRAGMA cache_size = 5; BEGIN; INSERT INTO beside VALUES (zeroblob(300000)); DELETE FROM beside",
        ),
        Left::Nothing | Left::Tail => Ok(()),
    }
    .expect("left");
    for suffix in ["", "-wal", "-journal"] {
        let made = folder.join(format!("made.db{suffix}"));
        if made.exists() {
            std::fs::copy(made, folder.join(format!("before.db{suffix}"))).expect("copied");
        }
    }
    if before.left == Left::Tail {
        let file = std::fs::File::options()
            .append(true)
            .open(folder.join("before.db"));
        std::io::Write::write_all(&mut file.expect("opened"), &[7; 123_456]).expect("written");
    }
    drop(database);
    for suffix in ["", "-wal", "-journal", "-shm"] {
        _ = std::fs::remove_file(folder.join(format!("made.db{suffix}")));
    }
}

/// Puts the files back that were there before the load.
fn restore(folder: &Path) {
    for suffix in ["", "-wal", "-journal", "-shm", ".inorder-load"] {
        let goal = folder.join(format!("to.db{suffix}"));
        _ = std::fs::remove_file(&goal);
        let before = folder.join(format!("before.db{suffix}"));
        if before.exists() {
            std::fs::copy(before, goal).expect("copied");
        }
    }
}

/// Runs the load. strace does `action` at the n-th call of a name, such as `signal=SIGKILL`.
fn traced(folder: &Path, call: &str, action: &str, when: &str) -> ExitStatus {
    Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null"])
        .args(["-e", &format!("trace={call}")])
        .args(["-e", &format!("inject={call}:{action}:when={when}")])
        .arg(std::env::current_exe().expect("this test"))
        .args([
            "--exact",
            "stops::stopped",
            "--test-threads=1",
            "--nocapture",
        ])
        .env(FOLDER, folder)
        // A panic of the child is expected, and its backtrace takes longer than the load.
        .env("RUST_BACKTRACE", "0")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("strace")
}

/// Whether the database has the new rows. Fails if it is neither as it was nor has all of them.
fn is_new(to: &Path, before: &Before, case: &str) -> bool {
    let database = Connection::open(to).expect("opened");
    assert_whole(&database);
    let kept = "SELECT count(*) FROM beside WHERE x IN (zeroblob(9000), 'kept')";
    assert_eq!(rows(&database, kept), ["2"], "{case}");
    let is_filled = [FILLED, FILLED_WAL, FILLED_BEFORE].contains(&before.statements);
    let filled = if is_filled { "800" } else { "0" };
    let index = "SELECT count(*) FROM sqlite_schema WHERE name GLOB 't_fts*'";
    let has_index = rows(&database, index) != ["0"];
    if has_index {
        let check = "INSERT INTO t_fts(t_fts, rank) VALUES ('integrity-check', 1)";
        database.execute_batch(check).expect(case);
    }
    assert_eq!(
        rows(&database, "SELECT count(*) FROM t WHERE n < 0"),
        [filled],
        "{case}"
    );
    let expected = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS}) \
         SELECT (SELECT count(*) FROM t WHERE n > 0), (SELECT count(*) FROM t JOIN n ON t.n = i WHERE id = {ID})"
    );
    let is_new = match &rows(&database, &expected)[..] {
        [row] if row == "0, 0" => false,
        [row] => {
            assert_eq!(*row, format!("{ROWS}, {ROWS}"), "{case}");
            true
        }
        _ => unreachable!("one row"),
    };
    assert_eq!(has_index, is_new && before.statements == SEARCHED, "{case}");
    is_new
}

/// A folder with the rows and the database of a case.
fn folder_of(before: &Before) -> tempfile::TempDir {
    let memory = tempfile::tempdir_in("/dev/shm");
    let folder = memory.unwrap_or_else(|_| tempfile::tempdir().expect("folder"));
    made(
        &paths(folder.path()).0,
        &format!(
            "CREATE TABLE s AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS}) \
             SELECT {ID} AS id, i AS n FROM n"
        ),
    );
    prepare(folder.path(), before);
    folder
}

/// The numbers of the calls that are stopped in a case.
fn calls_to_stop(case: u32) -> impl Iterator<Item = u32> {
    let is_all = std::env::var("INORDER_STOPS").is_ok_and(|share| share == "all");
    let share = if is_all { 1 } else { SHARE };
    (1 + case % share..=CALLS_MAX + share).step_by(share as usize)
}

fn has_strace() -> bool {
    let found = Command::new("strace")
        .arg("-V")
        .stdout(Stdio::null())
        .status();
    if !found.is_ok_and(|status| status.success()) {
        inorder_testing::skip("strace isn't installed (apt-get install strace)");
        return false;
    }
    true
}

#[test]
fn a_load_killed_before_any_call_leaves_the_old_content_or_the_new() {
    use std::os::unix::process::ExitStatusExt as _;
    if !has_strace() {
        return;
    }
    for (number, before) in (0..).zip(CASES) {
        let folder = folder_of(before);
        let (_, to) = paths(folder.path());
        let (mut stops, mut old, mut new) = (0, 0, 0);
        for call in CALLS {
            for n in calls_to_stop(number) {
                restore(folder.path());
                let status = traced(folder.path(), call, "signal=SIGKILL", &n.to_string());
                let case = format!("{}, {call} {n}", before.name);
                let is_killed = status.signal().is_some();
                assert!(is_killed || status.success(), "{case}: {status}");
                let is_new = is_new(&to, before, &case);
                assert!(is_killed || is_new, "{case}: it ended without the rows");
                if !is_killed {
                    break;
                }
                assert!(n < CALLS_MAX, "{case}: more calls than expected");
                stops += 1;
                *(if is_new { &mut new } else { &mut old }) += 1;
                if !is_new {
                    // What the killed load left is in nobody's way.
                    load(&job_of(folder.path())).expect("the next load");
                    assert!(self::is_new(&to, before, &case));
                }
            }
        }
        eprintln!("{}: {stops} stops, {old} old, {new} new", before.name);
        assert!(
            old > 0 && new > 0,
            "{}: no stop on one side of the commit",
            before.name
        );
    }
}

#[test]
fn a_load_that_fails_at_any_call_leaves_the_old_content() {
    if !has_strace() {
        return;
    }
    // The other cases differ before the load.
    let cases = CASES.iter().filter(|before| {
        ["delete", "wal", "counted", "left to SQLite", "merge"].contains(&before.name)
    });
    for (number, before) in (0..).zip(cases) {
        let folder = folder_of(before);
        let (_, to) = paths(folder.path());
        let mut failures = 0;
        for (call, error) in [
            ("pwrite64", "ENOSPC"),
            ("ftruncate", "EIO"),
            ("fsync", "EIO"),
            ("fdatasync", "EIO"),
        ] {
            for n in calls_to_stop(number) {
                let (mut has_failed, mut is_new) = (false, false);
                // The call fails once, or for good.
                for when in [n.to_string(), format!("{n}+")] {
                    restore(folder.path());
                    let status = traced(folder.path(), call, &format!("error={error}"), &when);
                    let case = format!("{}, {call} {when}", before.name);
                    is_new = self::is_new(&to, before, &case);
                    assert_eq!(status.success(), is_new, "{case}: {status}");
                    has_failed |= !is_new;
                }
                failures += u32::from(has_failed);
                if is_new {
                    break;
                }
            }
        }
        eprintln!("{}: {failures} calls failed", before.name);
        assert!(failures > 0, "{}", before.name);
    }
}

#[test]
fn readers_of_a_wal_decide_whether_its_database_is_extended() {
    let setup = "PRAGMA journal_mode = WAL; CREATE TABLE t(id PRIMARY KEY) WITHOUT ROWID; CREATE TABLE u(x)";
    for (is_used, notes) in [(false, 0), (true, 1)] {
        let (folder, from, to) =
            super::pair("CREATE TABLE s(id); INSERT INTO s VALUES (1), (2)", setup);
        let (reader, writer) = (open(&to), open(&to));
        let empty = "PRAGMA wal_checkpoint(TRUNCATE)";
        writer.query_row(empty, [], |_| Ok(())).expect("emptied");
        if is_used {
            writer
                .execute_batch("INSERT INTO u VALUES (1)")
                .expect("written");
        }
        reader
            .execute_batch("BEGIN; SELECT * FROM u")
            .expect("begun");
        assert_eq!(rows(&reader, "SELECT * FROM t"), Vec::<String>::new());
        let summary = load(&job(&from, &to, WriterChoice::Direct)).expect("a load beside a reader");
        assert_eq!(summary.notes.len(), notes, "{:?}", summary.notes);
        assert_eq!(rows(&reader, "SELECT * FROM t"), Vec::<String>::new());
        reader.execute_batch("COMMIT").expect("ended");
        assert_eq!(rows(&reader, "SELECT * FROM t"), ["1", "2"]);
        assert_whole(&reader);
        assert!(
            names(folder.path())
                .iter()
                .all(|name| !name.contains("inorder-load"))
        );
    }
}
