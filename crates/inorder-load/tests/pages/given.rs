//! Rows that the caller gives, in a table that the load creates.

use std::error::Error as StdError;
use std::path::Path;

use inorder_load::{Error, GivenRow, GivenRows, Job, Progress, Summary, WriterChoice, run_rows};
use rusqlite::Connection;
use rusqlite::types::{Value, ValueRef};

use super::{assert_whole, names, open, rows};

type Cause = Box<dyn StdError + Send + Sync>;

/// Rows and what the caller says in the end.
struct Given {
    rows: Vec<Vec<Value>>,
    next: usize,
    /// The error in place of a row, by its number.
    fails_at: Option<usize>,
    is_refused: bool,
    /// What the proof read.
    seen: Vec<String>,
}

impl Given {
    fn new(rows: Vec<Vec<Value>>) -> Self {
        Given {
            rows,
            next: 0,
            fails_at: None,
            is_refused: false,
            seen: Vec::new(),
        }
    }
}

impl GivenRows for Given {
    fn next(&mut self, row: &mut GivenRow<'_>) -> Result<bool, Cause> {
        if self.fails_at == Some(self.next) {
            return Err("the source ended".into());
        }
        let Some(values) = self.rows.get(self.next) else {
            return Ok(false);
        };
        for value in values {
            row.push(ValueRef::from(value));
        }
        self.next += 1;
        Ok(true)
    }

    fn prove(&mut self, database: &Connection) -> Result<(), Cause> {
        self.seen = rows(database, ALL);
        database
            .execute_batch("CREATE TABLE IF NOT EXISTS note(x); INSERT INTO note VALUES (7)")?;
        match self.is_refused {
            true => Err("they differ".into()),
            false => Ok(()),
        }
    }
}

const ALL: &str = "SELECT *, typeof(b), typeof(c) FROM t ORDER BY a, b";

/// Tables of columns a, b and c. The table `p` does not exist.
const TABLES: &[&str] = &[
    "CREATE TABLE t(a TEXT PRIMARY KEY, b INTEGER, c) WITHOUT ROWID; CREATE INDEX i ON t(b, a)",
    "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b REAL UNIQUE, c REFERENCES p(x))",
    "CREATE TABLE t(a, b TEXT COLLATE NOCASE, c BLOB); CREATE INDEX i ON t(c, b); CREATE INDEX j ON t(lower(b)) WHERE a > 2",
    "CREATE TABLE t(a INT NOT NULL, b TEXT, c ANY, PRIMARY KEY(b DESC, a)) STRICT, WITHOUT ROWID",
];

/// Databases, and the writer that such a load takes.
const DATABASES: &[(&str, WriterChoice)] = &[
    ("", WriterChoice::Direct),
    ("", WriterChoice::Statements),
    ("CREATE TABLE beside(x)", WriterChoice::Direct),
    ("CREATE TABLE beside(x)", WriterChoice::Statements),
    (
        "PRAGMA journal_mode = WAL; CREATE TABLE beside(x)",
        WriterChoice::Direct,
    ),
    (
        "PRAGMA auto_vacuum = FULL; CREATE TABLE beside(x)",
        WriterChoice::Direct,
    ),
    (
        "PRAGMA encoding = 'UTF-16be'; CREATE TABLE beside(x)",
        WriterChoice::Direct,
    ),
];

/// Rows in no order, with every storage class. The values fit the STRICT table too.
fn values(table: &str, count: i64) -> Vec<Vec<Value>> {
    let row = |i: i64| {
        let key = i * 7919 % 10007;
        let text = |number: i64| Value::Text(format!("ü{number}"));
        let c = match i % 4 {
            0 => Value::Null,
            1 => Value::Real(i as f64 / 3.0),
            2 => Value::Integer(-i),
            _ => Value::Blob(vec![i as u8; (i % 50 * 100) as usize]),
        };
        match table {
            table if table.contains("a TEXT") => vec![text(key), Value::Text(format!("{i}")), c],
            table if table.contains("REAL") => vec![Value::Integer(key), Value::Integer(i), c],
            _ => vec![Value::Integer(key), text(i), c],
        }
    };
    (1..=count).map(row).collect()
}

/// A database with the statements, if there are any.
fn begun(path: &Path, before: &str) {
    if !before.is_empty() {
        open(path).execute_batch(before).expect("made");
    }
}

fn load(
    path: &Path,
    create: &str,
    writer: WriterChoice,
    given: &mut Given,
) -> Result<Summary, Error> {
    let job = Job {
        memory_bytes: 1 << 18,
        writer,
        ..Job::new(Vec::new(), path.display().to_string(), "t".to_owned())
    };
    run_rows(&job, create, given, &Progress::default())
}

#[test]
fn given_rows_are_those_of_an_insert_and_the_proof_sees_them() {
    for create in TABLES {
        let given = values(create, 3000);
        let expected = Connection::open_in_memory().expect("SQLite");
        expected
            .execute_batch(&format!("PRAGMA foreign_keys = OFF; {create}"))
            .expect("made");
        for row in &given {
            let row = rusqlite::params_from_iter(row);
            expected
                .execute("INSERT INTO t VALUES (?, ?, ?)", row)
                .expect("inserted");
        }
        let expected = rows(&expected, ALL);
        for (before, writer) in DATABASES {
            let folder = tempfile::tempdir().expect("folder");
            let path = folder.path().join("to.db");
            begun(&path, before);
            let mut given = Given::new(given.clone());
            let summary = load(&path, create, *writer, &mut given).expect(create);
            let case = format!("{before} {create}");
            assert_eq!((summary.rows_read, summary.rows_written), (3000, 3000));
            assert_eq!(
                summary.writer == "direct",
                *writer == WriterChoice::Direct,
                "{case}"
            );
            assert_eq!(given.seen, expected, "{case}");
            let database = open(&path);
            assert_whole(&database);
            assert_eq!(rows(&database, ALL), expected, "{case}");
            assert_eq!(rows(&database, "SELECT x FROM note"), ["7"], "{case}");
        }
    }
}

#[test]
fn an_error_of_the_caller_or_of_a_row_changes_nothing() {
    for (before, writer) in DATABASES {
        for wrong in ["proof", "source", "key", "null"] {
            let folder = tempfile::tempdir().expect("folder");
            let path = folder.path().join("to.db");
            begun(&path, before);
            let files = names(folder.path());
            let mut given = Given::new(values(TABLES[3], 2000));
            match wrong {
                "proof" => given.is_refused = true,
                "source" => given.fails_at = Some(1500),
                "key" => given.rows[700] = given.rows[300].clone(),
                _ => given.rows[700][0] = Value::Null,
            }
            let error = load(&path, TABLES[3], *writer, &mut given).expect_err(wrong);
            let said = error.to_string();
            let expected = match wrong {
                "proof" => "they differ",
                "source" => "the source ended",
                "key" => "row 301 and row 701 have the same key in t",
                _ => "row 701, column `a`: the value is missing",
            };
            assert!(said.starts_with(expected), "{before} {writer:?}: {said}");
            let is_callers = matches!(error, Error::Caller(_));
            assert_eq!(is_callers, ["proof", "source"].contains(&wrong));
            assert_eq!(names(folder.path()), files, "{before} {writer:?} {wrong}");
            if !before.is_empty() {
                let database = open(&path);
                assert_whole(&database);
                let schema = "SELECT name FROM sqlite_schema";
                assert_eq!(rows(&database, schema), ["'beside'"]);
            }
            // The same load without the fault works afterwards.
            let mut given = Given::new(values(TABLES[3], 2000));
            load(&path, TABLES[3], *writer, &mut given).expect("the next load");
        }
    }
}

#[test]
fn a_table_that_exists_is_not_created_again() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("to.db");
    begun(&path, "CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    let mut given = Given::new(Vec::new());
    let error = load(&path, TABLES[0], WriterChoice::Auto, &mut given).expect_err("it exists");
    assert!(error.to_string().contains("already exists"), "{error}");
    assert_eq!(rows(&open(&path), "SELECT a FROM t"), ["1"]);
}
