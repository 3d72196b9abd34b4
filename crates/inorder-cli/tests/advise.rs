//! `inorder advise` as a process: exit codes, formats, what it writes and what it leaves.

use rusqlite::Connection;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

const ROWS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)";

fn made(folder: &Path, sql: &str) -> PathBuf {
    let path = folder.join("app.db");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    path
}

/// A table with an index that another one replaces.
fn redundant(folder: &Path) -> PathBuf {
    let sql = format!(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b TEXT); CREATE INDEX ta ON t(a); CREATE INDEX tab ON t(a, b);
         {ROWS} INSERT INTO t SELECT i, 'name ' || i % 90, hex(i) FROM n;"
    );
    made(folder, &sql)
}

/// Runs the command with a temporary folder of its own, which must be empty afterwards.
fn advise(file: &Path, arguments: &[&str]) -> Output {
    let temporary = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_inorder"))
        .arg("advise")
        .arg(file)
        .args(arguments)
        .env("TMPDIR", temporary.path())
        .output()
        .unwrap();
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_format_names_the_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = redundant(folder.path());
    for format in ["text", "json", "md", "html"] {
        let output = advise(&path, &["--format", format]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let said = text(&output.stdout);
        assert!(said.contains("begins tab"), "{format}: {said}");
    }
    assert_ne!(advise(&path, &["--format", "xml"]).status.code(), Some(0));
}

#[test]
fn the_plan_of_the_json_is_the_plan_that_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = redundant(folder.path());
    let target = tempfile::tempdir().unwrap();
    let output = advise(
        &path,
        &[
            "--format",
            "json",
            "--write",
            &target.path().to_string_lossy(),
        ],
    );
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let read = |name: &str| fs::read_to_string(target.path().join(name)).unwrap();
    let plan: serde_json::Value = serde_json::from_str(&read("app.advise.json")).unwrap();
    assert_eq!(json["plan"], plan);
    assert_eq!(plan["changes"][0]["index"], "ta");
    assert!(read("app.advise.sql").contains("DROP INDEX"));
    assert!(read("app.undo.sql").contains("CREATE INDEX"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn lost_ids_come_first_and_have_an_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let sql = format!(
        "CREATE TABLE t(id UUID PRIMARY KEY, b); {ROWS} INSERT INTO t SELECT lower(hex(randomblob(16))), i FROM n;
         INSERT INTO t VALUES ('12345678901234567890123456789012', 'lost');"
    );
    let output = advise(&made(folder.path(), &sql), &[]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        text(&output.stdout).starts_with("LOST    t.id: "),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn a_damaged_file_has_an_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let path = redundant(folder.path());
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 8192].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let output = advise(&path, &[]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("integrity_check"));
}
