//! Unique keys of tables without a primary key become the key that rows are stored by.

mod common;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{advice, candidates, made, numbers};
use inorder_advise::advice::Verdict;
use inorder_advise::rules::{Candidate, Class, Group};
use inorder_advise::{Change, Progress, Rekey, migrate};
use rusqlite::Connection;

/// The layouts that are proposed for a table `t` of 50 rows, as `class change`.
fn layouts(table: &str) -> Vec<String> {
    let rows = numbers(50);
    let insert = format!("{rows} INSERT INTO t(a, b) SELECT i * 3, i % 7 FROM n;");
    let is_layout = |own: &Candidate| {
        own.table == "t" && matches!(own.group, Group::WithoutRowid | Group::IntegerKey)
    };
    let found = candidates(&format!("{table}; {insert}"))
        .into_iter()
        .filter(is_layout);
    found
        .map(|own| match own.class {
            Class::Safe => own.changes[0].to_string(),
            _ => format!("no: {}", own.reason),
        })
        .collect()
}

const INTEGER: &str = "make t.a INTEGER PRIMARY KEY";
const BY_A: &str = "make t WITHOUT ROWID, with the primary key (a)";
const BY_AB: &str = "make t WITHOUT ROWID, with the primary key (a, b)";

#[test]
fn unique_keys_are_tried() {
    for table in [
        "CREATE TABLE t(a INTEGER NOT NULL UNIQUE, b)",
        "CREATE TABLE t(a INT NOT NULL, b, UNIQUE(a))",
        "CREATE TABLE t(a BIGINT UNIQUE NOT NULL, b); CREATE UNIQUE INDEX u ON t(a)",
        "CREATE TABLE t(a INT NOT NULL, b); CREATE UNIQUE INDEX u ON t(a DESC)",
        "CREATE TABLE t(a INT NOT NULL UNIQUE ON CONFLICT REPLACE, b)",
        "CREATE TABLE t(a INT NOT NULL UNIQUE, b) STRICT",
        "CREATE TABLE t(a INT NOT NULL UNIQUE, b INT NOT NULL, UNIQUE(a, b))",
        "CREATE TABLE t(a INT NOT NULL UNIQUE, b); CREATE TABLE c(a REFERENCES t(a))",
    ] {
        // A STRICT table names its types.
        let table = table.replace(", b) STRICT", ", b INT) STRICT");
        assert_eq!(layouts(&table), [INTEGER, BY_A], "{table}");
    }
    for table in [
        "CREATE TABLE t(a INT NOT NULL, b INT NOT NULL, UNIQUE(a, b))",
        "CREATE TABLE t(a INT NOT NULL, b NOT NULL); CREATE UNIQUE INDEX u ON t(a, b COLLATE NOCASE DESC)",
        "CREATE TABLE t(a INT NOT NULL, b NOT NULL, c UNIQUE, UNIQUE(a, b))",
    ] {
        assert_eq!(layouts(table), [BY_AB], "{table}");
    }
    let two = "CREATE TABLE t(a TEXT NOT NULL UNIQUE, b INT NOT NULL, UNIQUE(b, a))";
    assert_eq!(
        layouts(two),
        [BY_A],
        "one that contains another key is not tried"
    );
    let both = "CREATE TABLE t(a TEXT NOT NULL, b INT NOT NULL, UNIQUE(b, a)); CREATE UNIQUE INDEX u ON t(a, b)";
    let other = "make t WITHOUT ROWID, with the primary key (b, a)";
    assert_eq!(layouts(both), [other, BY_AB]);
}

#[test]
fn what_a_primary_key_would_change_is_left() {
    for (table, reason) in [
        (
            "CREATE TABLE t(a INT UNIQUE, b)",
            "a is not declared NOT NULL",
        ),
        (
            "CREATE TABLE t(a INT NOT NULL, b, c, UNIQUE(a, c))",
            "50 rows have NULL in c",
        ),
        (
            "CREATE TABLE t(a INT NOT NULL UNIQUE ON CONFLICT IGNORE, b, c UNIQUE)",
            "ON CONFLICT clause",
        ),
        (
            "CREATE TABLE t(a INT NOT NULL UNIQUE, b); CREATE VIEW v AS SELECT rowid, b FROM t",
            "uses its rowid",
        ),
        (
            "CREATE TABLE t(a INT NOT NULL UNIQUE, b); CREATE VIRTUAL TABLE f USING fts5(b)",
            "may look rows up by rowid",
        ),
        (
            "CREATE TABLE t(a INT NOT NULL, b); CREATE UNIQUE INDEX u ON t(a);
             CREATE VIEW v AS SELECT b FROM t INDEXED BY u WHERE a > 1",
            "INDEXED BY u",
        ),
        (
            "CREATE TABLE t(a INT NOT NULL, b, g AS (a + 1) NOT NULL UNIQUE)",
            "g is generated",
        ),
    ] {
        let found = layouts(table);
        assert!(!found.is_empty(), "{table}");
        for own in &found {
            assert!(
                own.starts_with("no: ") && own.contains(reason),
                "{table}: {own}"
            );
        }
    }
    // Not the rowid, and yet the key.
    for (table, reason) in [
        (
            "CREATE TABLE t(a INT NOT NULL DEFAULT 7 UNIQUE, b)",
            "has a DEFAULT",
        ),
        (
            "CREATE TABLE t(a INT NOT NULL ON CONFLICT IGNORE UNIQUE, b)",
            "has an ON CONFLICT clause",
        ),
    ] {
        let found = layouts(table);
        assert!(found[0].contains(reason), "{table}: {found:?}");
        assert_eq!(found[1], BY_A, "{table}");
    }
    // Partial indexes and expressions are no keys; a table with a key has its own rules.
    for table in [
        "CREATE TABLE t(a INT NOT NULL, b); CREATE UNIQUE INDEX u ON t(a) WHERE b > 3",
        "CREATE TABLE t(a INT NOT NULL, b); CREATE UNIQUE INDEX u ON t(a + 1)",
        "CREATE TABLE t(a INT NOT NULL UNIQUE, b, id INTEGER PRIMARY KEY)",
    ] {
        assert_eq!(layouts(table), [""; 0], "{table}");
    }
}

/// Rekeys a database.
fn rekey(path: &Path, change: Change) {
    let rekey = Rekey {
        path: path.to_owned(),
        changes: vec![change],
        memory_bytes: 1 << 20,
        wait: Duration::ZERO,
        rebuilds_all: false,
    };
    rekey.run(&Progress::default()).unwrap();
}

#[test]
fn the_advice_is_what_it_gives() {
    for (table, group, least_percent) in [
        (
            "CREATE TABLE Entry(idseq INTEGER NOT NULL UNIQUE, key INTEGER, value TEXT)",
            Group::IntegerKey,
            20.0,
        ),
        (
            "CREATE TABLE Entry(idseq TEXT NOT NULL, key INTEGER NOT NULL, value INTEGER, UNIQUE(idseq, key))",
            Group::WithoutRowid,
            25.0,
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let rows = numbers(30_000);
        let sql = format!(
            "{table}; {rows} INSERT INTO Entry SELECT i * 10, i % 1000, 'value ' || i % 50 FROM n;"
        );
        let path = made(folder.path(), &sql);
        let found = advice(&path).unwrap();
        let item = found
            .items
            .iter()
            .find(|item| item.verdict == Verdict::Change)
            .unwrap();
        assert_eq!(item.group, group);
        assert!(item.percent.unwrap() > least_percent, "{:?}", item.percent);
        let together = found.together.unwrap();
        let change = together.plan.changes[0].clone();
        rekey(&path, change.clone());
        let bytes = path.metadata().unwrap().len();
        assert!(
            bytes <= together.bytes * 103 / 100,
            "{bytes} {}",
            together.bytes
        );
    }
}

/// What statements do to a database with foreign keys: their errors, and the rows afterwards.
fn outcome(path: &Path, statements: &[&str]) -> Vec<String> {
    let database = Connection::open(path).unwrap();
    database.execute_batch("PRAGMA foreign_keys = ON").unwrap();
    let mut found: Vec<String> = statements
        .iter()
        .map(|statement| match database.execute_batch(statement) {
            Ok(()) => format!("{statement}: ok"),
            Err(error) => format!("{statement}: {error}"),
        })
        .collect();
    for table in ["t", "child"] {
        let sql = format!(
            "SELECT group_concat(a || '|' || b, ' ') FROM (SELECT a, b FROM {table} ORDER BY a, b)"
        );
        found.push(database.query_row(&sql, [], |row| row.get(0)).unwrap());
    }
    found
}

#[test]
fn parents_stay_parents_and_conflicts_conflicts() {
    let statements = [
        "INSERT INTO t(a, b) VALUES (3, 100)",
        "INSERT INTO t(a, b) VALUES (3, 0)",
        "INSERT INTO t(a, b) VALUES (3, 0) ON CONFLICT(a, b) DO UPDATE SET c = 'again'",
        "INSERT OR IGNORE INTO t(a, b) VALUES (6, 1)",
        "INSERT OR REPLACE INTO t(a, b) VALUES (9, 2)",
        "INSERT INTO t(a, b) VALUES (NULL, 1)",
        "INSERT INTO child VALUES (12, 3)",
        "INSERT INTO child VALUES (12, 99)",
        "UPDATE t SET b = 77 WHERE a = 12 AND b = 3",
        "DELETE FROM t WHERE a = 15",
    ];
    for table in [
        "CREATE TABLE t(a INT NOT NULL, b INT NOT NULL, c, UNIQUE(a, b))",
        "CREATE TABLE t(a INT NOT NULL, b INT NOT NULL, c); CREATE UNIQUE INDEX u ON t(a, b DESC)",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let rows = numbers(40);
        let sql = format!(
            "{table}; CREATE TABLE child(a, b, FOREIGN KEY(a, b) REFERENCES t(a, b) ON DELETE CASCADE ON UPDATE CASCADE);
             {rows} INSERT INTO t(a, b) SELECT i * 3, i - 1 FROM n; INSERT INTO child SELECT a, b FROM t WHERE a < 30;"
        );
        let path = made(folder.path(), &sql);
        let change = Change::WithoutRowidByUnique {
            table: "t".into(),
            columns: vec!["a".into(), "b".into()],
        };
        let written = migrate(
            &path,
            folder.path(),
            "app.db",
            std::slice::from_ref(&change),
            &[],
        );
        written.unwrap();
        let other = folder.path().join("other.db");
        std::fs::copy(&path, &other).unwrap();
        rekey(&path, change);
        assert_eq!(
            outcome(&path, &statements),
            outcome(&other, &statements),
            "{table}"
        );
    }
}

/// Runs SQL in the shell, if it is one of the versions whose checks take columns for NULL.
fn shell_3_40(sql: &str) -> Option<String> {
    let version = Command::new("sqlite3").arg("--version").output().ok()?;
    if !version.stdout.starts_with(b"3.40.") {
        inorder_testing::skip("the sqlite3 shell is not of version 3.40");
        return None;
    }
    let mut child = Command::new("sqlite3")
        .arg(":memory:")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take()?;
    let sql = sql.to_owned();
    let writer = std::thread::spawn(move || input.write_all(sql.as_bytes()));
    let output = child.wait_with_output().ok()?;
    writer.join().ok()?.ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Every key of 1 to 3 of 4 columns with every set of NOT NULL: the notes name what SQLite 3.40 reports, and are silent
/// where it reports nothing.
#[test]
fn reports_of_sqlite_3_40_are_foretold() {
    const COLUMNS: [&str; 4] = ["a", "b", "c", "d"];
    let mut keys: Vec<Vec<usize>> = Vec::new();
    for at in 0..4usize.pow(3) {
        let places = [at % 4, at / 4 % 4, at / 16];
        for count in 1..=3 {
            let key = places[..count].to_vec();
            let is_new = (1..count).all(|at| !key[..at].contains(&key[at])) && !keys.contains(&key);
            if is_new {
                keys.push(key);
            }
        }
    }
    let (mut old, mut new, mut tables) = (String::new(), String::new(), 0);
    for key in &keys {
        for not_null in 0..16 {
            let column = |at: usize| match not_null >> at & 1 {
                1 => format!("{} INT NOT NULL", COLUMNS[at]),
                _ => format!("{} INT", COLUMNS[at]),
            };
            let columns: Vec<String> = (0..4).map(column).collect();
            let names: Vec<&str> = key.iter().map(|&at| COLUMNS[at]).collect();
            let table = format!(
                "CREATE TABLE t{tables}({}, PRIMARY KEY({}))",
                columns.join(", "),
                names.join(", ")
            );
            let insert = format!("INSERT INTO t{tables} VALUES (1, 1, 1, 1), (2, 2, 2, 2);\n");
            old += &format!("{table};\n{insert}");
            new += &format!("{table} WITHOUT ROWID;\n{insert}");
            tables += 1;
        }
    }
    assert_eq!(tables, 640);
    let checks = "PRAGMA integrity_check(100000); PRAGMA quick_check(100000);";
    let Some(reports) = shell_3_40(&format!("BEGIN; {new} COMMIT; {checks}")) else {
        return;
    };
    let mut found = 0;
    let candidates = candidates(&old);
    for table in 0..tables {
        let name = format!("t{table}");
        let is_its = |own: &&Candidate| own.group == Group::WithoutRowid && own.table == name;
        let candidate = candidates.iter().find(is_its).unwrap();
        let prefix = format!("NULL value in {name}.");
        let reported: Vec<&str> = reports
            .lines()
            .filter(|line| line.starts_with(&prefix))
            .collect();
        let notes = candidate.notes.join(" ");
        assert_eq!(
            reported.is_empty(),
            !notes.contains("NULL value in"),
            "{candidate:?}"
        );
        assert!(
            reported.iter().all(|line| notes.contains(line)),
            "{reported:?} {notes}"
        );
        found += usize::from(!reported.is_empty());
    }
    assert!(found > 100, "{found}");
}
