//! A load that is killed: the database is as it was, or has all rows, and a second load works.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use inorder_load::WriterChoice;
use rusqlite::Connection;

use super::{assert_whole, job, load, made, names, open, rows};

/// Rows that take a while even to a fast machine.
const ROWS: u32 = 30_000;

/// The variable with the input of the killed process.
const FOLDER: &str = "INORDER_TEST_KILLED_LOAD";

fn paths(folder: &Path) -> (PathBuf, PathBuf) {
    (folder.join("from.db"), folder.join("to.db"))
}

/// The killed process. It does nothing when run on its own.
#[test]
fn killed() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let (from, to) = paths(Path::new(&folder));
    load(&job(&from, &to, WriterChoice::Direct)).expect("a load");
}

/// Starts a load, kills it after a while, and says whether that was in time.
fn killed_after(folder: &Path, pause: Duration) -> bool {
    let own = std::env::current_exe().expect("this test");
    let mut child = Command::new(own)
        .args(["--exact", "kill::killed"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .spawn()
        .expect("a process");
    std::thread::sleep(pause);
    let was_running = child.try_wait().expect("a state").is_none();
    child.kill().expect("killed");
    child.wait().expect("ended");
    was_running
}

fn count(database: &Connection) -> i64 {
    let count = "SELECT count(*) FROM t";
    database
        .query_row(count, [], |row| row.get(0))
        .expect("a number")
}

#[test]
fn a_killed_load_leaves_the_old_state_or_the_new() {
    let folder = tempfile::tempdir().expect("folder");
    let (from, to) = paths(folder.path());
    made(
        &from,
        &format!(
            "CREATE TABLE s AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS}) \
             SELECT hex(randomblob(16)) AS id, i AS n FROM n"
        ),
    );
    made(
        &to,
        "PRAGMA journal_mode = WAL; CREATE TABLE beside(x); INSERT INTO beside VALUES (zeroblob(9000)); \
         CREATE TABLE t(id TEXT PRIMARY KEY, n) WITHOUT ROWID; CREATE INDEX i ON t(n)",
    );
    let mut killed = 0;
    for round in 0..14 {
        // Later each time: from before the first row to after the last.
        let pause = Duration::from_millis(10 + 45 * round);
        killed += u32::from(killed_after(folder.path(), pause));
        let database = open(&to);
        assert_whole(&database);
        assert_eq!(rows(&database, "SELECT length(x) FROM beside"), ["9000"]);
        let loaded = count(&database);
        assert!([0, i64::from(ROWS)].contains(&loaded), "{loaded} rows");
        database.execute_batch("DELETE FROM t").expect("emptied");
    }
    assert!(killed > 0, "every load was over before it was killed");
    load(&job(&from, &to, WriterChoice::Direct)).expect("a load after many killed ones");
    let database = open(&to);
    assert_whole(&database);
    assert_eq!(count(&database), i64::from(ROWS));
    let names = names(folder.path());
    assert!(names.iter().all(|name| !name.contains("inorder-load")));
}
