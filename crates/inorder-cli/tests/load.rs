//! `inorder load` as a process: killed at any moment it leaves the old state or the new.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ROWS: u64 = 20_000;

/// The number of kills per writing method; `INORDER_KILL_ROUNDS=100` for 200 in total.
fn rounds() -> u32 {
    let rounds = std::env::var("INORDER_KILL_ROUNDS").ok();
    rounds.and_then(|rounds| rounds.parse().ok()).unwrap_or(6)
}

/// Marsaglia's xorshift: enough for moments and keys in no order.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

struct Load {
    folder: tempfile::TempDir,
    arguments: Vec<String>,
}

impl Load {
    /// A load into a database with other tables and an index, and the database as it is before.
    fn new(writer: &str, memory: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut random = Random(7);
        let mut csv = String::from("id,payload\n");
        for _ in 0..ROWS {
            csv += &format!("{:016x},{:032x}\n", random.next(), random.next());
        }
        std::fs::write(folder.path().join("rows.csv"), csv).expect("a file");
        let db = rusqlite::Connection::open(folder.path().join("before.db")).expect("a database");
        db.execute_batch(
            "CREATE TABLE other(a INTEGER PRIMARY KEY, b UNIQUE);
             INSERT INTO other SELECT value, hex(randomblob(20)) FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 500) SELECT value FROM n);
             CREATE TABLE rows(id TEXT PRIMARY KEY, payload TEXT) WITHOUT ROWID;
             CREATE INDEX rows_payload ON rows(payload);",
        )
        .expect("a schema");
        db.close().expect("closed");
        let arguments = [
            "load", "rows.csv", "app.db", "--quiet", "--writer", writer, "--memory", memory,
        ];
        Load {
            folder,
            arguments: arguments.map(str::to_owned).to_vec(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn begin(&self) -> Child {
        Command::new(env!("CARGO_BIN_EXE_inorder"))
            .args(&self.arguments)
            .current_dir(self.folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command runs")
    }

    /// The files of the folder.
    fn names(&self) -> Vec<std::ffi::OsString> {
        let entries = std::fs::read_dir(self.folder.path()).expect("the folder");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort();
        names
    }

    /// Puts the database as it was before.
    fn reset(&self) {
        for name in ["app.db-journal", "app.db-wal", "app.db-shm"] {
            _ = std::fs::remove_file(self.path(name));
        }
        std::fs::copy(self.path("before.db"), self.path("app.db")).expect("a copy");
    }

    /// Runs to the end and says how long that took.
    fn finish(&self) -> Duration {
        let began = Instant::now();
        let ended = self.begin().wait_with_output().expect("the command ends");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{said}");
        assert_eq!(look(&self.path("app.db")), (500, ROWS));
        began.elapsed()
    }
}

/// The rows of both tables, in a database that is whole.
fn look(path: &Path) -> (u64, u64) {
    let db = rusqlite::Connection::open(path).expect("a database");
    let text = |sql: &str| -> String { db.query_row(sql, [], |row| row.get(0)).expect(sql) };
    assert_eq!(text("PRAGMA integrity_check"), "ok");
    let count = |sql: &str| -> u64 { db.query_row(sql, [], |row| row.get(0)).expect(sql) };
    let rows = count("SELECT count(*) FROM rows");
    let by_index = count("SELECT count(payload) FROM rows INDEXED BY rows_payload");
    assert_eq!(rows, by_index);
    (count("SELECT count(*) FROM other"), rows)
}

fn kill_at_any_moment(writer: &str, memory: &str) {
    let load = Load::new(writer, memory);
    load.reset();
    let whole = load.finish();
    let mut random = Random(u64::from(std::process::id()) | 1 << 40);
    let (mut old, mut new) = (0, 0);
    for _ in 0..rounds() {
        load.reset();
        let mut child = load.begin();
        let wait = whole.mul_f64((random.next() % 1100) as f64 / 1000.0);
        std::thread::sleep(wait);
        child.kill().expect("a process");
        child.wait().expect("a process");
        match look(&load.path("app.db")) {
            (500, 0) => old += 1,
            (500, ROWS) => new += 1,
            other => panic!("killed after {wait:?}: {other:?} rows"),
        }
    }
    println!("{writer}: {old} times as before, {new} times loaded");
    // What is left of killed ones is in nobody's way, and cleared by the next.
    load.reset();
    load.finish();
    assert_eq!(load.names(), ["app.db", "before.db", "rows.csv"]);
}

#[test]
fn killed_statements_leave_the_old_state_or_the_new() {
    kill_at_any_moment("statements", "1M");
}

#[test]
fn killed_direct_writers_leave_the_old_state_or_the_new() {
    kill_at_any_moment("direct", "64M");
}

/// A load in a file system of its own that has so many bytes, or whose files may have: its exit code, what it
/// says, and the names that are left there. The database comes back from there.
fn in_small_space(load: &Load, writer: &str, space: &str) -> Option<(i32, String, String)> {
    let unshare = ["-U", "-r", "-m"];
    let can = Command::new("unshare").args(unshare).arg("true").status();
    if !can.is_ok_and(|status| status.success()) {
        inorder_testing::skip("no file system can be mounted here: `unshare -U -r -m` fails");
        return None;
    }
    let script = format!(
        "mkdir -p small; mount -t tmpfs -o size=32M none small; cp before.db small/app.db; \
         trap '' XFSZ; ({space}; \
         exec \"$INORDER\" load rows.csv small/app.db --quiet --writer {writer} --memory 64M); code=$?; \
         rm -f small/filler; ls small >&2; cp small/app.db app.db; exit $code"
    );
    let ended = Command::new("unshare")
        .args(unshare)
        .args(["sh", "-c", &script])
        .env("INORDER", env!("CARGO_BIN_EXE_inorder"))
        .current_dir(load.folder.path())
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    let (said, left) = said.trim_end().rsplit_once('\n')?;
    Some((ended.status.code()?, said.to_owned(), left.to_owned()))
}

#[test]
fn a_full_disk_leaves_the_old_state() {
    let load = Load::new("auto", "64M");
    load.reset();
    load.finish();
    let whole = load.path("app.db").metadata().expect("a database").len();
    // All but so many bytes are taken; or none are, and no file may have more than so many blocks of 512.
    let free = |kib| {
        format!(
            "head -c $((32 * 1024 * 1024 - {kib} * 1024 - $(stat -c %s before.db))) /dev/zero > small/filler"
        )
    };
    for (writer, space, words) in [
        // Foreseen, before anything is written; and when the table is written, for its index, unless its last blocks, which a
        // thread writes behind, find no room first.
        ("direct", free(1000), "MB and 0 MB are free"),
        ("direct", free(2000), "MB and 0 MB are free|No space left"),
        // Not foreseen: the database can't get as long as it would, at its end or before.
        (
            "direct",
            format!("ulimit -f {}", (whole - 48 * 1024) / 512),
            "small/app.db: File too large",
        ),
        (
            "direct",
            "ulimit -f 600".to_owned(),
            "small/app.db: File too large",
        ),
        (
            "statements",
            free(900),
            "the disk is full; the database is unchanged",
        ),
        (
            "statements",
            "ulimit -f 600".to_owned(),
            "small/app.db: disk I/O error",
        ),
    ] {
        load.reset();
        let Some((code, said, left)) = in_small_space(&load, writer, &space) else {
            return;
        };
        assert_eq!((code, &*left), (1, "app.db"), "{writer}, {space}: {said}");
        let is_said = words.split('|').any(|words| said.contains(words));
        assert!(is_said, "{writer}, {space}: {said}");
        assert_eq!(look(&load.path("app.db")), (500, 0), "{writer}, {space}");
    }
}

/// The system calls at which Ctrl-C comes: those that read, take memory, write, wait for the disk, and clear up.
const CALLS: &[&str] = &[
    "openat",
    "read",
    "mmap",
    "write",
    "pwrite64",
    "ftruncate",
    "fdatasync",
    "munmap",
    "unlink",
];

/// Ctrl-C at the first, second, fourth, … call of a name in any thread.
#[test]
fn ctrl_c_in_every_phase_leaves_the_old_state_and_says_so() {
    let strace = Command::new("strace").arg("-V").output();
    if !strace.is_ok_and(|found| found.status.success()) {
        return inorder_testing::skip("strace isn't installed (apt-get install strace)");
    }
    for (writer, memory) in [("statements", "1M"), ("direct", "1M"), ("direct", "64M")] {
        let load = Load::new(writer, memory);
        let (mut old, mut new) = (0, 0);
        for call in CALLS {
            for nth in (0..12).map(|power| 1 << power) {
                let is_loaded = interrupted(&load, call, nth);
                *(if is_loaded { &mut new } else { &mut old }) += 1;
                // There is no such call, or the rows are committed.
                if is_loaded {
                    break;
                }
            }
        }
        println!("{writer}, {memory}: {old} times as before, {new} times loaded");
        // A load with much memory is so short that even the first call of a name may come too late on a busy machine.
        let is_seen = 2 * old >= CALLS.len() && new > 5;
        assert!(is_seen, "{writer}: {old} old, {new} new");
    }
}

/// Runs a load that gets SIGINT at the n-th call of a name. Says whether the rows are loaded.
fn interrupted(load: &Load, call: &str, nth: u32) -> bool {
    load.reset();
    let ended = Command::new("strace")
        .args(["-f", "-qqq", "-o", "/dev/null", "-e"])
        .arg(format!("inject={call}:signal=SIGINT:when={nth}"))
        .arg(env!("CARGO_BIN_EXE_inorder"))
        .args(&load.arguments)
        .current_dir(load.folder.path())
        .output()
        .expect("strace");
    let said = String::from_utf8_lossy(&ended.stderr);
    let at = format!("{:?}, {call} {nth}: {said}", load.arguments);
    let rows = look(&load.path("app.db"));
    assert_eq!(load.names(), ["app.db", "before.db", "rows.csv"], "{at}");
    match ended.status.code() {
        Some(0) => {
            assert_eq!(rows, (500, ROWS), "{at}");
            true
        }
        // `None`: it did not watch for the signal yet.
        code => {
            assert!(code.is_none() || code == Some(130), "{code:?}, {at}");
            assert!(
                code.is_none() || said.contains("stopped; the database is unchanged"),
                "{at}"
            );
            assert_eq!(rows, (500, 0), "{at}");
            false
        }
    }
}

/// Sends SIGINT to a load that waits for its input. Returns what it says.
fn said_at_ctrl_c(child: Child) -> String {
    std::thread::sleep(Duration::from_millis(300));
    let interrupted = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupted.expect("kill").success());
    let ended = child.wait_with_output().expect("the command ends");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(130), "{said}");
    said
}

/// The tables before the one that is interrupted are loaded.
#[test]
fn ctrl_c_names_the_tables_that_are_loaded() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("first.csv"), "a,b\n1,2\n").expect("a file");
    let made = Command::new("mkfifo").arg(path("second.csv")).status();
    assert!(made.expect("mkfifo").success());
    let child = Command::new(env!("CARGO_BIN_EXE_inorder"))
        .args(["load", "first.csv", "second.csv", "new.db", "--quiet"])
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command");
    // Opening it waits until the load reads from it.
    let mut pipe = std::fs::File::options()
        .write(true)
        .open(path("second.csv"))
        .expect("a pipe");
    std::io::Write::write_all(&mut pipe, b"a,b\n3,4\n").expect("written");
    let said = said_at_ctrl_c(child);
    drop(pipe);
    assert!(
        said.contains("stopped; loaded tables: first; not loaded: second"),
        "{said}"
    );
}

#[test]
fn ctrl_c_ends_a_load_that_waits_for_its_input() {
    let folder = tempfile::tempdir().expect("a folder");
    for head in ["", "a,b\n1,2\n"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_inorder"))
            .args(["load", "-", "new.db", "--table", "t"])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command");
        let mut stdin = child.stdin.take().expect("a pipe");
        std::io::Write::write_all(&mut stdin, head.as_bytes()).expect("written");
        let said = said_at_ctrl_c(child);
        // The pipe is open until here.
        drop(stdin);
        assert!(
            said.contains("stopped; the database is unchanged"),
            "{said}"
        );
        assert_eq!(std::fs::read_dir(folder.path()).expect("it").count(), 0);
    }
}

/// Stdin can't be read twice: what was read is kept until the types are known.
#[test]
fn all_rows_of_stdin_decide_the_types() {
    const NUMBERS: u64 = 60_000;
    let folder = tempfile::tempdir().expect("a folder");
    let mut csv = String::from("a;b\n");
    for i in 0..NUMBERS {
        csv += &format!("{i};{i}\n");
    }
    csv += "last;\n";
    for (arguments, rows) in [
        (&[][..], NUMBERS + 1),
        (&["--replace-table"], NUMBERS + 1),
        (&["--append"], 2 * (NUMBERS + 1)),
    ] {
        let mut load = Command::new(env!("CARGO_BIN_EXE_inorder"))
            .args(["load", "-", "app.db", "--table", "t", "--quiet"])
            .args(arguments)
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command runs");
        let mut stdin = load.stdin.take().expect("a pipe");
        std::io::Write::write_all(&mut stdin, csv.as_bytes()).expect("it is read");
        drop(stdin);
        let ended = load.wait_with_output().expect("the command ends");
        assert!(ended.status.success(), "{ended:?}");
        assert_eq!(String::from_utf8_lossy(&ended.stdout), "");
        let db = rusqlite::Connection::open(folder.path().join("app.db")).expect("a database");
        let found = "SELECT count(*), min(typeof(a)), max(b) FROM t";
        let found: (u64, String, u64) = db
            .query_row(found, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .expect("rows");
        assert_eq!(found, (rows, "text".to_owned(), NUMBERS - 1));
    }
}

#[test]
fn a_summary_that_can_not_be_printed_is_told_from_a_load_that_failed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (csv, database) = (folder.path().join("t.csv"), folder.path().join("t.db"));
    std::fs::write(&csv, "id,v\n1,a\n2,b\n").expect("a file");
    let full = std::fs::File::create("/dev/full").expect("a device");
    let output = Command::new(env!("CARGO_BIN_EXE_inorder"))
        .args(["load".as_ref(), csv.as_os_str(), database.as_os_str()])
        .stdout(full)
        .output()
        .expect("the command");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("the load is done, but its summary cannot be printed"),
        "{told}"
    );
    let count = rusqlite::Connection::open(&database)
        .and_then(|db| db.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0)));
    assert_eq!(count.expect("a table"), 2);
}

#[test]
fn empty_names_and_columns_given_twice_are_errors_of_usage() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("t.csv"), "id,v\n1,a\n").expect("a file");
    for (arguments, told) in [
        (&["t.csv", "t.db", "--table", ""][..], "--table <NAME>"),
        (&["t.csv", ""], "<DATABASE>"),
        (&["", "t.db"], "<INPUT>"),
        (&["t.csv", "t.db", "--columns", "id,"], "--columns <NAME"),
        (&["t.csv", "t.db", "--fts", "id,,v"], "--fts <COLUMN"),
        (
            &["t.csv", "t.db", "--key", ""],
            "--key: write `` as COLUMN or",
        ),
        (
            &["t.csv", "t.db", "--key", "=uuid7"],
            "--key: write `=uuid7` as",
        ),
        (
            &["t.csv", "t.db", "--type", "=TEXT"],
            "--type: write `=TEXT` as",
        ),
        (
            &["t.csv", "t.db", "--index", "id,"],
            "--index: write `id,` as",
        ),
        (
            &["t.csv", "t.db", "--foreign-key", "v="],
            "--foreign-key: write `v=` as",
        ),
        (
            &["t.csv", "t.db", "--foreign-key", "v=p."],
            "--foreign-key: write `v=p.` as",
        ),
        (
            &["t.csv", "t.db", "--date", "=dmy"],
            "--date: write `=dmy` as COLUMN=dmy",
        ),
        (
            &["t.csv", "t.db", "--decode", "v"],
            "--decode: write `v` as",
        ),
        (
            &["t.csv", "t.db", "--date", "v=dmy,v=mdy"],
            "--date: `v` is given twice",
        ),
        (
            &["t.csv", "t.db", "--decode", "v=hex,v=none"],
            "--decode: `v` is given twice",
        ),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_inorder"))
            .arg("load")
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .expect("the command");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(told), "{arguments:?}: {said}");
    }
    assert!(!folder.path().join("t.db").exists(), "nothing is written");
}
