//! `inorder advise` as a process: exit codes, formats, what it writes and what it leaves.

use rusqlite::Connection;
use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::OsStrExt as _,
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
fn the_database_is_no_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = redundant(folder.path());
    let bytes = fs::read(&path).unwrap();
    let (code, _, error) = said(&path, &["--output", &path.to_string_lossy()]);
    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("which is read"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn a_plan_that_no_script_can_carry_out_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let sql = format!(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT) WITHOUT ROWID; CREATE TABLE log(line);
         INSERT INTO log VALUES ('a'), ('b'), ('c'); DELETE FROM log WHERE line = 'a';
         CREATE TABLE u(id INTEGER PRIMARY KEY, a TEXT, b TEXT); CREATE INDEX ua ON u(a); CREATE INDEX uab ON u(a, b);
         {ROWS} INSERT INTO t SELECT i, printf('%.*c', 1500, 'x') FROM n;
         {ROWS} INSERT INTO u(a, b) SELECT printf('%030d', i), 'b' FROM n;"
    );
    let path = made(folder.path(), &sql);
    let target = folder.path().join("plan");
    let (code, _, error) = said(&path, &["--write", &target.to_string_lossy()]);
    assert_eq!(code, Some(0), "{error}");
    assert!(error.contains("use `inorder rekey`"), "{error}");
    assert!(error.contains("written: "), "{error}");
    let written = fs::read_dir(&target).unwrap().flatten();
    let written: Vec<OsString> = written.map(|entry| entry.file_name()).collect();
    assert_eq!(written, ["app.advise.json"]);
    let plan = fs::read_to_string(target.join("app.advise.json")).unwrap();
    assert!(plan.contains("\"changes\""), "{plan}");
}

#[test]
fn a_list_of_changes_holds_no_character_that_a_terminal_obeys() {
    let folder = tempfile::tempdir().unwrap();
    let sql = format!(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b TEXT); CREATE INDEX \"t\u{1b}[2J\na\" ON t(a);
         CREATE INDEX tab ON t(a, b); {ROWS} INSERT INTO t SELECT i, 'name ' || i % 90, hex(i) FROM n;"
    );
    let path = made(folder.path(), &sql);
    let target = tempfile::tempdir().unwrap();
    let (code, _, error) = said(&path, &["--write", &target.path().to_string_lossy()]);
    assert_eq!(code, Some(0), "{error}");
    let output = Command::new(env!("CARGO_BIN_EXE_inorder"))
        .arg("rekey")
        .arg(&path)
        .args(["--list", "--plan"])
        .arg(target.path().join("app.advise.json"))
        .output()
        .unwrap();
    assert_eq!(text(&output.stdout), "1  drop the index t [2J a\n");
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

/// What the command says of a file: its exit code, stdout and stderr.
fn said(file: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = advise(file, arguments);
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn what_is_no_database_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    let random: Vec<u8> = (0..8192u64)
        .map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
        .collect();
    let whole = fs::read(redundant(folder.path())).unwrap();
    let newer = |at: usize, value: u8| {
        let mut bytes = whole.clone();
        bytes[at] = value;
        bytes
    };
    for (bytes, words) in [
        (b"hello".to_vec(), "begins with other bytes"),
        (random, "decrypt it"),
        (whole[..60].to_vec(), "ends within its header"),
        (b"PK and so on".to_vec(), "Unpack it first"),
        (newer(47, 5), "schema format 5; SQLite"),
        (newer(19, 3), "file format 3; SQLite"),
    ] {
        fs::write(&path, bytes).unwrap();
        for more in [&[][..], &["--sample"]] {
            let (code, out, error) = said(&path, more);
            assert_eq!((code, out.as_str()), (Some(1), ""), "{words}");
            assert!(error.contains(words) && error.contains("app.db"), "{error}");
        }
    }
    let (code, _, error) = said(folder.path(), &[]);
    assert_eq!(code, Some(1));
    assert!(error.contains("is a folder"), "{error}");
}

#[test]
fn what_can_be_read_of_a_damaged_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = redundant(folder.path());
    Connection::open(&path)
        .unwrap()
        .execute_batch(&format!(
            "CREATE TABLE sound(id TEXT PRIMARY KEY, x);
             {ROWS} INSERT INTO sound SELECT lower(hex(randomblob(16))), i FROM n;"
        ))
        .unwrap();
    let mut bytes = fs::read(&path).unwrap();
    // A page of t, whose pages are the first ones.
    bytes[5 * 4096..6 * 4096].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let (code, out, error) = said(&path, &["--format", "json"]);
    assert_eq!(code, Some(4), "{error}");
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let notes = json["notes"].to_string();
    assert!(notes.contains("integrity_check"), "{notes}");
    assert!(notes.contains("t: reading ended after"), "{notes}");
    assert!(
        json["ids"].to_string().contains("sound.id"),
        "{}",
        json["ids"]
    );
    assert_eq!(json["tables"][1]["rows"], 3000);
    assert!(json["plan"].is_null());
}

#[test]
fn a_lock_is_waited_for_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = redundant(folder.path());
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let (code, _, error) = said(&path, &[]);
    assert_eq!(code, Some(1));
    assert!(error.contains("another process holds a lock"), "{error}");
    assert!(error.contains("Run it again"), "{error}");
}

#[test]
fn a_database_in_wal_mode_needs_no_log_and_gets_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = redundant(folder.path());
    let writer = Connection::open(&path).unwrap();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    drop(writer);
    for more in [&[][..], &["--sample"]] {
        let (code, out, error) = said(&path, more);
        assert_eq!(code, Some(0), "{error}");
        assert!(out.contains("WAL mode"), "{out}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn a_file_larger_than_the_disk_can_be_sampled() {
    let folder = tempfile::tempdir().unwrap();
    let path = redundant(folder.path());
    // A hole behind the pages that the header counts.
    let file = fs::File::options().write(true).open(&path).unwrap();
    if file.set_len(1 << 43).is_err() {
        inorder_testing::skip("the file system has no files of 8 TB");
        return;
    }
    let (code, _, error) = said(&path, &[]);
    assert_eq!(code, Some(1));
    assert!(
        error.contains("26388280 MB") && error.contains("--sample"),
        "{error}"
    );
    let (code, out, error) = said(&path, &["--sample"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(
        out.contains("ESTIMATE") && out.contains("begins tab"),
        "{out}"
    );
    let folder = folder.path().to_string_lossy().into_owned();
    let (code, _, error) = said(&path, &["--sample", "--write", &folder]);
    assert_eq!(code, Some(2));
    assert!(error.contains("cannot be used with"), "{error}");
}

#[test]
fn virtual_and_shadow_tables_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = redundant(folder.path());
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "CREATE VIRTUAL TABLE words USING fts5(a, content='t', content_rowid='id');
             INSERT INTO words(words) VALUES ('rebuild');
             CREATE VIRTUAL TABLE own USING fts5(x); INSERT INTO own SELECT a FROM t;",
        )
        .unwrap();
    let target = tempfile::tempdir().unwrap();
    let write = target.path().to_string_lossy().into_owned();
    let (code, out, error) = said(&path, &["--write", &write]);
    assert_eq!(code, Some(0), "{error}");
    assert!(out.contains("2 virtual tables"), "{out}");
    let script = fs::read_to_string(target.path().join("app.advise.sql")).unwrap();
    let database = Connection::open(&path).unwrap();
    database
        .execute_batch(&script.replacen("\n.bail on\n", "\n", 1))
        .unwrap();
    let found: u32 = database
        .query_row(
            "SELECT count(*) FROM words WHERE words MATCH '0'",
            (),
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(found, 3000);
    let (code, out, error) = said(&path, &["--sample"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(out.contains("2 virtual tables"), "{out}");
}

#[test]
fn what_is_missing_here_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    let connection = Connection::open(&path).unwrap();
    connection
        .create_collation("unicase", |a: &str, b: &str| {
            a.to_lowercase().cmp(&b.to_lowercase())
        })
        .unwrap();
    connection
        .execute_batch(&format!(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT COLLATE unicase, b); CREATE INDEX ta ON t(a);
             {ROWS} INSERT INTO t SELECT i, 'Name ' || i, i FROM n;"
        ))
        .unwrap();
    drop(connection);
    for more in [&[][..], &["--sample"]] {
        let (code, out, error) = said(&path, more);
        assert_eq!(code, Some(0), "{error}");
        assert!(out.contains("Missing here: unicase"), "{out}");
        assert!(out.contains("stay as they are: t."), "{out}");
    }
}

#[test]
fn a_query_that_breaks_has_an_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(
        folder.path(),
        &format!(
            "CREATE TABLE k(id INT PRIMARY KEY, name TEXT);
             {ROWS} INSERT INTO k SELECT i * 3, 'name ' || i FROM n;"
        ),
    );
    let queries = folder.path().join("app.sql");
    fs::write(&queries, "SELECT rowid FROM k WHERE name = ?").unwrap();
    let queries = queries.to_string_lossy().into_owned();
    let (code, out, error) = said(&path, &["--queries", &queries]);
    assert_eq!(code, Some(5), "{error}");
    assert!(
        out.contains("returns other rows") && out.contains("No plan"),
        "{out}"
    );
}

#[test]
fn a_file_keeps_its_name_in_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let named = |bytes: &[u8]| folder.path().join(OsStr::from_bytes(bytes));
    let path = named(b"b\xfccher.db");
    fs::rename(redundant(folder.path()), &path).unwrap();
    let target = folder.path().join("plan");
    let output = advise(&path, &["--write", target.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let written = fs::read_dir(target).unwrap().flatten();
    let mut written: Vec<OsString> = written.map(|entry| entry.file_name()).collect();
    written.sort();
    let wanted: [&[u8]; 3] = [
        b"b\xfccher.advise.json",
        b"b\xfccher.advise.sql",
        b"b\xfccher.undo.sql",
    ];
    assert_eq!(written, wanted.map(OsStr::from_bytes));
}

#[test]
fn an_interrupt_leaves_no_copy() {
    let folder = tempfile::tempdir().unwrap();
    let path = redundant(folder.path());
    let rows = ROWS.replace("3000", "300000");
    Connection::open(&path)
        .unwrap()
        .execute_batch(&format!(
            "PRAGMA synchronous = OFF; {rows} INSERT INTO t SELECT i + 9000, hex(randomblob(9)), i FROM n"
        ))
        .unwrap();
    // In different steps: while it copies, vacuums, reads and tries.
    for wanted in ["copy.db", "base.db", "trial-", "together.db"] {
        let temporary = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_inorder"))
            .args(["advise", "--quiet"])
            .arg(&path)
            .env("TMPDIR", temporary.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let is_there = || {
            let folders = fs::read_dir(temporary.path()).unwrap().flatten();
            let mut files =
                folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten());
            files.any(|file| {
                file.unwrap()
                    .file_name()
                    .to_string_lossy()
                    .starts_with(wanted)
            })
        };
        while child.try_wait().unwrap().is_none() && !is_there() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let id = child.id().to_string();
        _ = Command::new("kill").args(["-INT", &id]).status().unwrap();
        let status = child.wait().unwrap();
        // It may have ended just before.
        assert!(status.code() == Some(130) || status.success(), "{status}");
        assert_eq!(
            fs::read_dir(temporary.path()).unwrap().count(),
            0,
            "{wanted}"
        );
    }
}

/// Runs `inorder rekey` with the plan of `advise --write` and a file for the undo script.
fn rekey(file: &Path, plan: &Path, undo: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inorder"));
    command.arg("rekey").arg(file);
    command.arg("--plan").arg(plan).arg("--undo").arg(undo);
    command.output().unwrap()
}

#[test]
fn the_undo_script_of_a_rekey_takes_it_back() {
    let folder = tempfile::tempdir().unwrap();
    let sql = format!(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b TEXT); CREATE INDEX ta ON t(a); CREATE INDEX tab ON t(a, b);
         CREATE TABLE \"u\"(k TEXT NOT NULL PRIMARY KEY, v); {ROWS} INSERT INTO t SELECT i, 'name ' || i % 90, hex(i) FROM n;
         {ROWS} INSERT INTO u SELECT printf('%032x', i * 7919 % 3001), i FROM n;"
    );
    let path = made(folder.path(), &sql);
    let plan = folder.path().join("plan.json");
    let changes = r#"{"changes": [{"change": "drop-index", "index": "ta"}, {"change": "without-rowid", "table": "u"}]}"#;
    fs::write(&plan, changes).unwrap();
    let content = || {
        let database = Connection::open(&path).unwrap();
        let read =
            |query: &str| -> String { database.query_row(query, [], |row| row.get(0)).unwrap() };
        [
            "SELECT group_concat(sql, char(10)) FROM (SELECT sql FROM sqlite_schema ORDER BY type, name)",
            "SELECT group_concat(id || a || b) FROM (SELECT * FROM t ORDER BY id)",
            "SELECT group_concat(k || v) FROM (SELECT * FROM u ORDER BY k)",
            "PRAGMA integrity_check",
        ]
        .map(read)
    };
    let before = content();

    let taken = folder.path().join("taken.sql");
    fs::write(&taken, "mine").unwrap();
    let output = rekey(&path, &plan, &taken);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("nothing was changed"));
    assert_eq!(fs::read_to_string(&taken).unwrap(), "mine");
    assert!(content() == before, "{}", content()[0]);

    let undo = folder.path().join("undo.sql");
    let output = rekey(&path, &plan, &undo);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let schema = &content()[0];
    assert!(
        schema.contains("WITHOUT ROWID") && !schema.contains("ta ON"),
        "{schema}"
    );
    let script = fs::read_to_string(&undo).unwrap();
    let is_sql = |line: &&str| !line.starts_with('.');
    let script: Vec<&str> = script.lines().filter(is_sql).collect();
    let run = || {
        Connection::open(&path)
            .unwrap()
            .execute_batch(&script.join("\n"))
    };
    run().unwrap();
    assert!(content() == before, "{}", content()[0]);
    // Once is enough.
    let error = run().unwrap_err().to_string();
    assert!(error.contains("the schema has changed since"), "{error}");
    assert!(content() == before, "{}", content()[0]);
}

#[test]
fn a_rekey_that_fails_leaves_no_undo_script() {
    let folder = tempfile::tempdir().unwrap();
    let path = redundant(folder.path());
    let (plan, undo) = (
        folder.path().join("plan.json"),
        folder.path().join("undo.sql"),
    );
    let bytes = fs::read(&path).unwrap();
    fs::write(
        &plan,
        r#"{"changes": [{"change": "drop-index", "index": "none"}]}"#,
    )
    .unwrap();
    let output = rekey(&path, &plan, &undo);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    // The script can be written, and another process keeps the database.
    fs::write(
        &plan,
        r#"{"changes": [{"change": "drop-index", "index": "ta"}]}"#,
    )
    .unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let output = rekey(&path, &plan, &undo);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(!undo.exists());
    assert_eq!(fs::read(&path).unwrap(), bytes);
}
