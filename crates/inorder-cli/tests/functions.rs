//! Every command that opens an SQLite database, on schemas that use the SQL functions of this project: as a default, in
//! a CHECK, an index, a generated column, a view and a trigger.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::{Connection, OpenFlags};

const ROWS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)";

/// What of a schema uses a function, and the statement that makes it.
const USES: [(&str, &str); 8] = [
    ("default", "CREATE TABLE note(id TEXT PRIMARY KEY DEFAULT (uuid7_text()), owner INTEGER, text TEXT)"),
    (
        "check",
        "CREATE TABLE note(id TEXT PRIMARY KEY DEFAULT (uuid7_text()) CHECK (uuid_valid(id)), owner INTEGER, text TEXT)",
    ),
    (
        "generated",
        "CREATE TABLE note(id TEXT PRIMARY KEY DEFAULT (uuid7_text()), owner INTEGER, text TEXT, at AS (uuid7_timestamp(id)))",
    ),
    (
        "stored",
        "CREATE TABLE note(id TEXT PRIMARY KEY DEFAULT (uuid7_text()), owner INTEGER, text TEXT,
           at INTEGER AS (uuid7_timestamp(id)) STORED)",
    ),
    (
        "index",
        "CREATE TABLE note(id TEXT PRIMARY KEY DEFAULT (uuid7_text()), owner INTEGER, text TEXT);
         CREATE INDEX note_at ON note(uuid7_timestamp(id))",
    ),
    (
        "partial",
        "CREATE TABLE note(id TEXT PRIMARY KEY DEFAULT (uuid7_text()), owner INTEGER, text TEXT);
         CREATE INDEX note_valid ON note(text) WHERE uuid_valid(id)",
    ),
    (
        "view",
        "CREATE TABLE note(id TEXT PRIMARY KEY DEFAULT (uuid7_text()), owner INTEGER, text TEXT);
         CREATE VIEW age AS SELECT id, uuid7_timestamp(id) AS at FROM note",
    ),
    (
        "trigger",
        "CREATE TABLE log(at INTEGER); CREATE TABLE note(id TEXT PRIMARY KEY DEFAULT (uuid7_text()), owner INTEGER, text TEXT);
         CREATE TRIGGER note_ai AFTER INSERT ON note BEGIN INSERT INTO log SELECT uuid7_timestamp(new.id); END",
    ),
];

fn made(folder: &Path, schema: &str) -> PathBuf {
    let path = folder.join("app.db");
    let database = inorder_sqlite::open(&path, OpenFlags::default()).unwrap();
    let sql = format!(
        "{schema}; CREATE TABLE other(a INTEGER, b TEXT); CREATE INDEX other_a ON other(a); CREATE INDEX other_ab ON other(a, b);
         {ROWS} INSERT INTO other SELECT i % 40, 'text ' || i FROM n; {ROWS} INSERT INTO note(owner, text) SELECT i % 40, 'text ' || i FROM n;"
    );
    database.execute_batch(&sql).unwrap();
    path
}

/// Runs a command, which must succeed, and returns what it says.
fn inorder(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_inorder"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let said = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy);
    assert!(
        output.status.success(),
        "{arguments:?}: {}{}",
        said[0],
        said[1]
    );
    assert!(
        !said[1].contains("unknown function"),
        "{arguments:?}: {}",
        said[1]
    );
    said.concat()
}

/// Rows, and whether SQLite finds the file whole.
fn rows(path: &Path) -> u64 {
    let database = inorder_sqlite::open(path, OpenFlags::default()).unwrap();
    let check: String = database
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok", "{}", path.display());
    database
        .query_row("SELECT count(*) FROM note", [], |row| row.get(0))
        .unwrap()
}

/// Calls `try_it` with a database for each use of a function.
fn each_use(try_it: impl Fn(&Path, &Path)) {
    for (name, schema) in USES {
        let folder = tempfile::tempdir().unwrap();
        let path = made(folder.path(), schema);
        println!("{name}");
        try_it(folder.path(), &path);
    }
}

#[test]
fn advise_finds_the_changes_that_it_finds_without_functions() {
    each_use(|folder, _| {
        let said = inorder(folder, &["advise", "app.db"]);
        assert!(!said.contains("Missing here"), "{said}");
        assert!(said.contains("other_a "), "{said}");
        assert!(said.contains("WITHOUT ROWID: note"), "{said}");
        let sampled = inorder(folder, &["advise", "app.db", "--sample"]);
        assert!(!sampled.contains("Missing here"), "{sampled}");
    });
}

/// Runs a script in the plain shell, which has no functions of this project. Returns whether it ended well, and what it
/// says; nothing without a shell.
fn shell(path: &Path, script: &Path) -> Option<(bool, String)> {
    let input = fs::File::open(script).unwrap();
    let Ok(output) = Command::new("sqlite3")
        .arg("-bail")
        .arg(path)
        .stdin(input)
        .output()
    else {
        inorder_testing::skip("the sqlite3 shell is missing");
        return None;
    };
    let said = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy);
    Some((output.status.success(), said.concat()))
}

#[test]
fn rekey_and_the_script_make_the_changes() {
    let (mut works, mut refuses) = (0, 0);
    for (name, schema) in USES {
        let folder = tempfile::tempdir().unwrap();
        let path = made(folder.path(), schema);
        inorder(folder.path(), &["advise", "app.db", "--write", "."]);
        let script = folder.path().join("app.advise.sql");
        let other = folder.path().join("other.db");
        fs::copy(&path, &other).unwrap();
        let before = fs::read(&other).unwrap();
        let text = fs::read_to_string(&script).unwrap();
        let needs_functions = text.contains("needs the SQL functions");
        if let Some((is_ok, said)) = shell(&other, &script) {
            assert_eq!(is_ok, !needs_functions, "{name}: {said}");
            assert_eq!(is_ok, fs::read(&other).unwrap() != before, "{name}");
            assert!(
                is_ok || said.contains("load the SQL functions"),
                "{name}: {said}"
            );
        }
        *(if needs_functions {
            &mut refuses
        } else {
            &mut works
        }) += 1;
        inorder(
            folder.path(),
            &["rekey", "app.db", "--plan", "app.advise.json"],
        );
        assert_eq!(rows(&path), 4000);
        assert_eq!(rows(&other), 4000);
    }
    assert!(works > 0 && refuses > 0, "{works} {refuses}");
}

#[test]
fn copies_and_loads_read_and_write_them() {
    each_use(|folder, path| {
        inorder(folder, &["copy", "app.db", "other.db"]);
        assert_eq!(rows(&folder.join("other.db")), 4000);
        fs::write(folder.join("new.csv"), "owner,text\n1,one\n2,two\n").unwrap();
        inorder(
            folder,
            &["load", "new.csv", "app.db", "--table", "note", "--append"],
        );
        assert_eq!(rows(path), 4002);
        inorder(
            folder,
            &["load", "app.db:note", "third.db", "--table", "note"],
        );
        assert_eq!(rows(&folder.join("third.db")), 4002);
    });
}

#[test]
fn drafts_and_predictions_read_them() {
    each_use(|folder, _| {
        inorder(
            folder,
            &["bench", "--from", "app.db", "--table", "note", "--dry-run"],
        );
        inorder(
            folder,
            &[
                "predict", "--from", "app.db", "--table", "note", "--rows", "1e5",
            ],
        );
    });
}

#[test]
fn the_files_are_those_that_need_the_functions() {
    each_use(|folder, path| {
        _ = folder;
        let plain = Connection::open(path).unwrap();
        let insert = plain.execute_batch("INSERT INTO note(text) VALUES ('x')");
        assert!(insert.is_err(), "SQLite itself has no such function");
    });
}
