//! `inorder load` with any amount of memory, on a disk and in a file system of the memory's.
//!
//! `INORDER_TEST_ROWS=300000 cargo test --release -p inorder-cli --test memory` for more rows.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

const STEPS: u32 = 16;
const LEAST_BYTES: f64 = 65_536.0;
const MOST_BYTES: f64 = 67_108_864.0;

/// A row of this size is larger than the least memory.
const LARGE_ROW_BYTES: usize = 300_000;

fn rows() -> u64 {
    let rows = std::env::var("INORDER_TEST_ROWS").ok();
    rows.and_then(|rows| rows.parse().ok()).unwrap_or(12_000)
}

/// Rows whose keys are in no order, with a large one in the middle.
fn csv(rows: u64) -> String {
    let mut csv = String::from("id,n,payload\n");
    for n in 0..rows {
        let id = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        _ = writeln!(csv, "{id:016x},{n},{id:064x}");
        if n == rows / 2 {
            _ = writeln!(csv, "large,{rows},{}", "x".repeat(LARGE_ROW_BYTES));
        }
    }
    csv
}

/// From the least to the most by the same factor: most of them are multiples of nothing.
fn memory(step: u32) -> u64 {
    let exponent = f64::from(step) / f64::from(STEPS - 1);
    (LEAST_BYTES * (MOST_BYTES / LEAST_BYTES).powf(exponent)) as u64
}

/// Every row, in the order of the key.
fn content(database: &Path) -> Vec<(String, i64, usize)> {
    let db = rusqlite::Connection::open(database).expect("a database");
    let check: String = db
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("a check");
    assert_eq!(check, "ok");
    let mut statement = db
        .prepare("SELECT id, n, length(payload) FROM rows ORDER BY id")
        .expect("a query");
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .expect("rows");
    rows.collect::<Result<_, _>>().expect("rows")
}

fn load_with_every_memory(folder: &Path) {
    let folder = tempfile::tempdir_in(folder).expect("a folder");
    let kind = Command::new("stat")
        .args(["-f", "-c", "%T"])
        .arg(folder.path())
        .output();
    let kind = kind.map(|kind| String::from_utf8_lossy(&kind.stdout).trim().to_owned());
    let rows = rows();
    std::fs::write(folder.path().join("rows.csv"), csv(rows)).expect("a file");
    let database = folder.path().join("app.db");
    let mut expected = None;
    for step in 0..STEPS {
        _ = std::fs::remove_file(&database);
        let db = rusqlite::Connection::open(&database).expect("a database");
        db.execute_batch(
            "PRAGMA synchronous = OFF; \
             CREATE TABLE rows(id PRIMARY KEY, n INTEGER, payload) WITHOUT ROWID; \
             CREATE INDEX by_payload ON rows(payload)",
        )
        .expect("a schema");
        db.close().expect("closed");
        let ended = Command::new(env!("CARGO_BIN_EXE_inorder"))
            .args([
                "load", "rows.csv", "app.db", "--quiet", "--writer", "direct",
            ])
            .args(["--memory", &memory(step).to_string()])
            .current_dir(folder.path())
            .output()
            .expect("the command runs");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(
            ended.status.success(),
            "{kind:?}, --memory {}: {said}",
            memory(step)
        );
        let found = content(&database);
        assert_eq!(found.len() as u64, rows + 1);
        assert!(
            *expected.get_or_insert_with(|| found.clone()) == found,
            "{kind:?}, --memory {}",
            memory(step)
        );
    }
    println!("{kind:?}: {STEPS} amounts of memory, {rows} rows each");
}

#[test]
fn any_memory_is_enough_on_a_disk() {
    load_with_every_memory(Path::new(env!("CARGO_TARGET_TMPDIR")));
}

#[test]
fn any_memory_is_enough_on_a_tmpfs() {
    let memory = Path::new("/dev/shm");
    match memory.is_dir() {
        true => load_with_every_memory(memory),
        false => inorder_testing::skip("there is no /dev/shm"),
    }
}
