//! Scripts that are written are proven by the library itself; here the `sqlite3` shell runs them too, where it is.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use inorder_advise::{Change, Conversion, IdForm, Migration, Progress, Rekey, migrate};
use rusqlite::Connection;

const SCHEMA: &str = "
    PRAGMA foreign_keys = OFF;
    CREATE TABLE doc(slug TEXT PRIMARY KEY, body TEXT NOT NULL, n AS (length(body)));
    CREATE INDEX doc_body ON doc(body); CREATE INDEX doc_body_slug ON doc(body, slug);
    CREATE TABLE [log] (id INTEGER PRIMARY KEY AUTOINCREMENT, doc TEXT /* by slug */ REFERENCES doc ON DELETE CASCADE, old_id,
      UNIQUE(id, doc)) -- the log
    ;
    CREATE INDEX log_old ON log(old_id); CREATE INDEX log_doc ON log(doc);
    CREATE TRIGGER doc_ad AFTER DELETE ON doc BEGIN INSERT INTO log(doc) VALUES (NULL); END;
    CREATE VIEW heads AS SELECT slug, substr(body, 1, 3) AS head FROM doc;
    CREATE TABLE item(id BIGINT PRIMARY KEY, name); CREATE TABLE 'tag'(item, tag, PRIMARY KEY(tag, item)) WITHOUT ROWID;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700)
      INSERT INTO doc(slug, body) SELECT 'slug ' || (i * 7919 % 1000), 'word' || (i % 10) FROM n;
    INSERT INTO log(doc) SELECT slug FROM doc; DELETE FROM log WHERE id > 600; INSERT INTO log(doc) VALUES ('orphan');
    INSERT INTO item SELECT id * 7, 'it''s ' || id FROM log; INSERT INTO tag SELECT id, 'tag' || (id % 7) FROM item;
    ANALYZE;";

fn changes() -> Vec<Change> {
    vec![
        Change::DropIndex {
            index: "doc_body".into(),
        },
        Change::PartialIndex {
            index: "log_old".into(),
            column: "old_id".into(),
        },
        Change::DropUnique {
            table: "log".into(),
            columns: vec!["id".into(), "doc".into()],
        },
        Change::WithoutRowid {
            table: "doc".into(),
        },
        Change::IntegerPrimaryKey {
            table: "item".into(),
            column: "id".into(),
        },
        Change::Rowid {
            table: "tag".into(),
        },
        Change::PageSize { bytes: 8192 },
    ]
}

fn made(folder: &Path, sql: &str) -> std::path::PathBuf {
    let path = folder.join("app.db");
    Connection::open(&path)
        .expect("a database")
        .execute_batch(sql)
        .expect("made");
    path
}

/// Runs a script in the shell; `None` where there is no shell.
fn shell(path: &Path, script: &str) -> Option<(bool, String)> {
    let mut command = Command::new("sqlite3");
    command
        .arg(path)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .stdout(Stdio::null());
    let Ok(mut child) = command.spawn() else {
        inorder_testing::skip("the sqlite3 shell is missing");
        return None;
    };
    let mut input = child.stdin.take().expect("a pipe");
    // A shell that stops at an error closes its input.
    _ = input.write_all(script.as_bytes());
    drop(input);
    let output = child.wait_with_output().expect("ended");
    Some((
        output.status.success(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    ))
}

fn text(path: &Path, query: &str) -> String {
    let database = Connection::open(path).expect("opened");
    database
        .query_row(query, [], |row| row.get(0))
        .expect(query)
}

#[test]
fn the_shell_runs_it_forth_and_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = made(folder.path(), SCHEMA);
    let queries = ["SELECT * FROM doc WHERE body = 'a'".to_owned()];
    let Migration { script, undo } =
        migrate(&path, folder.path(), "app.db", &changes(), &queries).expect("proven");
    let rows = "SELECT group_concat(slug || n) || (SELECT seq FROM sqlite_sequence) FROM (SELECT * FROM doc ORDER BY slug)";
    let stats = "SELECT group_concat(tbl || coalesce(idx, '') || stat) FROM (SELECT * FROM sqlite_stat1 ORDER BY 1, 2) WHERE tbl = 'doc' AND idx = 'doc_body_slug'";
    let (before, stats_before) = (text(&path, rows), text(&path, stats));
    let Some((is_done, messages)) = shell(&path, &script) else {
        return;
    };
    assert!(is_done, "{messages}");
    assert_eq!(text(&path, rows), before);
    assert_eq!(text(&path, stats), stats_before);
    assert_eq!(text(&path, "PRAGMA integrity_check"), "ok");
    let (is_done, messages) = shell(&path, &script).expect("the shell");
    assert!(!is_done && messages.contains("changed since"), "{messages}");
    let (is_done, messages) = shell(&path, &undo).expect("the shell");
    assert!(is_done, "{messages}");
    assert_eq!(text(&path, rows), before);
}

#[test]
fn the_undo_script_takes_a_rekey_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = made(folder.path(), SCHEMA);
    let Migration { undo, .. } =
        migrate(&path, folder.path(), "app.db", &changes(), &[]).expect("proven");
    let rows = "SELECT group_concat(slug || n) || (SELECT seq FROM sqlite_sequence) FROM (SELECT * FROM doc ORDER BY slug)";
    let schema = "SELECT group_concat(replace(sql, '\"', ''), x'0a') FROM (SELECT sql FROM sqlite_schema ORDER BY type, name)";
    let page_size = "SELECT CAST(page_size AS TEXT) FROM pragma_page_size";
    let all = [rows, schema, page_size];
    let before = all.map(|query| text(&path, query));
    let rekey = Rekey {
        path: path.clone(),
        changes: changes(),
        memory_bytes: 1 << 20,
        wait: std::time::Duration::ZERO,
        rebuilds_all: false,
    };
    rekey.run(&Progress::default()).expect("rekeyed");
    assert_ne!(text(&path, schema), before[1]);
    let Some((is_done, messages)) = shell(&path, &undo) else {
        return;
    };
    assert!(is_done, "{messages}");
    let after = all.map(|query| text(&path, query));
    assert_eq!(
        after
            .each_ref()
            .map(|text| text.replace(['[', ']', '\''], "")),
        before
            .each_ref()
            .map(|text| text.replace(['[', ']', '\''], ""))
    );
    assert_eq!(text(&path, "PRAGMA integrity_check"), "ok");
    // A second run finds another database.
    let (is_done, messages) = shell(&path, &undo).expect("the shell");
    assert!(!is_done && messages.contains("changed since"), "{messages}");
}

#[test]
fn a_script_stops_where_the_schema_is_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = made(folder.path(), SCHEMA);
    let migration = migrate(&path, folder.path(), "app.db", &changes(), &[]).expect("proven");
    Connection::open(&path)
        .expect("opened")
        .execute_batch("CREATE INDEX another ON item(name)")
        .expect("made");
    let schema = "SELECT group_concat(sql) FROM sqlite_schema";
    let before = text(&path, schema);
    let Some((is_done, messages)) = shell(&path, &migration.script) else {
        return;
    };
    assert!(!is_done && messages.contains("changed since"), "{messages}");
    assert_eq!(text(&path, schema), before);
}

#[test]
fn ids_of_every_form_become_blobs_and_text_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = made(
        folder.path(),
        "CREATE TABLE t(a TEXT PRIMARY KEY, b TEXT, c CHAR(36), d, e TEXT UNIQUE) ;
         INSERT INTO t VALUES ('00ff7abc8def0123456789ab01020304', 'AB', '0192f0c1-d2e3-7abc-8def-0123456789ab',
           '0192F0C1-D2E3-7ABC-8DEF-0123456789AB', '01JBRC3MQ3FAY8VVR14D2PF2DB'),
          ('01ff7abc8def0123456789ab01020304', NULL, NULL, NULL, '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'),
          ('02ff7abc8def0123456789ab01020304', NULL, NULL, NULL, '00000000000000000000000000'),
          ('03ff7abc8def0123456789ab01020304', NULL, NULL, NULL, '0123456789ABCDEFGHJKMNPQRS'),
          ('04ff7abc8def0123456789ab01020304', NULL, NULL, NULL, '7TVWXYZ0123456789ABCDEFGHJ')",
    );
    let forms = [
        IdForm::Hex,
        IdForm::HexUpper,
        IdForm::Uuid,
        IdForm::UuidUpper,
        IdForm::Ulid,
    ];
    let columns = ["a", "b", "c", "d", "e"].iter().zip(forms);
    let columns = columns.map(|(column, form)| Conversion {
        table: "t".into(),
        column: (*column).into(),
        form,
    });
    let change = Change::IdsToBlobs {
        columns: columns.collect(),
    };
    let migration = migrate(&path, folder.path(), "app.db", &[change], &[]).expect("proven");
    assert!(migration.script.contains("3.41"));
}

#[test]
fn a_query_that_loses_its_index_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = made(folder.path(), SCHEMA);
    let drop = Change::DropIndex {
        index: "doc_body_slug".into(),
    };
    let both = [
        drop,
        Change::DropIndex {
            index: "doc_body".into(),
        },
    ];
    let queries = ["SELECT slug FROM doc WHERE body = 'word1'".to_owned()];
    let refused = migrate(&path, folder.path(), "app.db", &both, &queries).expect_err("refused");
    assert!(
        refused.to_string().contains("query 1 reads a whole table"),
        "{refused}"
    );
}

/// Full-text indexes that fit their content, and ones that don't: the rows came before the index, or without its triggers.
#[test]
fn a_full_text_index_that_is_wrong_already_holds_no_migration_up() {
    let external = "CREATE VIRTUAL TABLE f USING fts5(body, content='doc');";
    let filled = "INSERT INTO f(f) VALUES ('rebuild');";
    for (index, fill) in [
        (external, filled),
        (external, ""),
        (
            external,
            "INSERT INTO f(rowid, body) VALUES (1, 'something else');",
        ),
        (
            "CREATE VIRTUAL TABLE f USING fts5(body);",
            "INSERT INTO f VALUES ('word');",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = made(folder.path(), &format!("{SCHEMA} {index} {fill}"));
        let changes: Vec<Change> = changes()
            .into_iter()
            .filter(|change| !matches!(change, Change::WithoutRowid { .. }))
            .collect();
        let made = migrate(&path, folder.path(), "app.db", &changes, &[]);
        assert!(made.is_ok(), "{index} {fill}: {:?}", made.err());
    }
}

/// Runs a script without the commands of the shell.
fn run(path: &Path, script: &str) -> rusqlite::Result<()> {
    let is_statement = |line: &&str| !line.starts_with(".bail") && !line.starts_with(".dbconfig");
    let lines: Vec<&str> = script.lines().filter(is_statement).collect();
    Connection::open(path)?.execute_batch(&lines.join("\n"))
}

fn integer_key(table: &str) -> Change {
    Change::IntegerPrimaryKey {
        table: table.into(),
        column: "id".into(),
    }
}

#[test]
fn a_key_that_is_no_integer_since_then_stops_the_script() {
    for key in ["NULL", "'a'", "1.5"] {
        let folder = tempfile::tempdir().unwrap();
        let path = made(
            folder.path(),
            "CREATE TABLE t(id INT PRIMARY KEY, name); INSERT INTO t VALUES (5, 'a'), (7, 'b')",
        );
        let changes = [integer_key("T")];
        let migration = migrate(&path, folder.path(), "app.db", &changes, &[]).expect("proven");
        let insert = format!("INSERT INTO t VALUES ({key}, 'c')");
        Connection::open(&path)
            .unwrap()
            .execute_batch(&insert)
            .unwrap();
        let stopped = run(&path, &migration.script).expect_err(key).to_string();
        let what = "t.id has a value that is no integer";
        assert!(stopped.contains(what), "{key}: {stopped}");
    }
}

#[test]
fn the_undo_needs_no_statistics_that_the_original_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(
        folder.path(),
        "CREATE TABLE t(id INT PRIMARY KEY, name); INSERT INTO t VALUES (1, 'a'), (7, 'b'); ANALYZE;
         DROP TABLE IF EXISTS sqlite_stat4",
    );
    let changes = [integer_key("t")];
    let migration = migrate(&path, folder.path(), "app.db", &changes, &[]).expect("proven");
    for script in [&migration.script, &migration.undo] {
        assert!(script.contains("main.sqlite_stat1"), "{script}");
        assert!(!script.contains("sqlite_stat4"), "{script}");
    }
}

#[test]
fn strings_in_double_quotes_are_allowed_where_there_are_any() {
    for (check, is_allowed) in [
        ("kind IN (\"a\", 'b')", true),
        ("\"kind\" IN ('a', 'b')", false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = made(
            folder.path(),
            &format!(
                "CREATE TABLE t(id INT PRIMARY KEY, kind CHECK ({check})); INSERT INTO t VALUES (1, 'a')"
            ),
        );
        let changes = [integer_key("t")];
        let migration = migrate(&path, folder.path(), "app.db", &changes, &[]).expect("proven");
        for script in [migration.script, migration.undo] {
            let allows = "\n.dbconfig dqs_ddl on\n.dbconfig dqs_dml on\n";
            assert_eq!(script.contains(allows), is_allowed, "{script}");
        }
        let off = ".dbconfig dqs_ddl off\n.dbconfig dqs_dml off\n";
        let migration = migrate(&path, folder.path(), "app.db", &changes, &[]).expect("proven");
        let Some((is_done, messages)) = shell(&path, &(off.to_owned() + &migration.script)) else {
            return;
        };
        assert!(is_done, "{messages}");
    }
}

#[test]
fn a_line_that_ends_a_statement_in_the_shell_is_refused() {
    for columns in ["go\nINTEGER", "x DEFAULT (6\n / \r\n2)", "x, \n\tGO\n"] {
        let folder = tempfile::tempdir().unwrap();
        let path = made(
            folder.path(),
            &format!(
                "CREATE TABLE t(id INT PRIMARY KEY,\n{columns}); CREATE TABLE u(\ngo\n); INSERT INTO t(id) VALUES (1)"
            ),
        );
        let changes = [integer_key("t")];
        let refused = migrate(&path, folder.path(), "app.db", &changes, &[]).expect_err(columns);
        let refused = refused.to_string();
        assert!(refused.contains("inorder rekey"), "{refused}");
        // What is not rebuilt is not written.
        let sql =
            "DROP TABLE t; CREATE TABLE t(id INT PRIMARY KEY, go); INSERT INTO t VALUES (1, 2)";
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        migrate(&path, folder.path(), "app.db", &changes, &[]).expect("proven");
    }
}

#[test]
fn statistics_follow_their_index_to_its_new_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(
        folder.path(),
        "CREATE TABLE t(id INT PRIMARY KEY, owner, kind, day, UNIQUE(kind, owner)); CREATE INDEX tday ON t(day);
         CREATE TABLE w(k TEXT NOT NULL PRIMARY KEY, a, UNIQUE(a, k)) WITHOUT ROWID;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
           INSERT INTO t SELECT i, 'owner' || i, i % 3, i % 50 FROM n;
         INSERT INTO w SELECT owner, kind FROM t; ANALYZE",
    );
    let all = "SELECT group_concat(tbl || ' ' || idx || ' ' || stat, '; ') FROM (SELECT * FROM sqlite_stat1 ORDER BY 1, 2)";
    let t = "t sqlite_autoindex_t_1 900 300 1; t tday 900 18";
    let w = "w sqlite_autoindex_w_1 900 1; w sqlite_autoindex_w_2 900 300 1";
    let before = text(&path, all);
    assert!(
        before.contains("t sqlite_autoindex_t_2 900 300 1"),
        "{before}"
    );
    assert!(before.contains("w w 900 1"), "{before}");
    let changes = [integer_key("t"), Change::Rowid { table: "w".into() }];
    let migration = migrate(&path, folder.path(), "app.db", &changes, &[]).expect("proven");
    run(&path, &migration.script).expect("made");
    assert_eq!(text(&path, all), format!("{t}; {w}"));
    run(&path, &migration.undo).expect("undone");
    // The index that was gone has none.
    let left = before.replace("t sqlite_autoindex_t_1 900 1; ", "");
    assert_eq!(text(&path, all), left);
}
