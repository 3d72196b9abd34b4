//! The direct writer against SQLite itself.

mod append;
mod checks;
mod columns;
mod counted;
mod defaults;
mod equal;
mod files;
mod generated;
mod given;
mod kill;
mod merge;
mod new;
mod obstacles;
mod schema;
mod stops;
#[path = "../common/types.rs"]
mod types;
mod unicode;

use std::path::{Path, PathBuf};

use inorder_load::source::Location;
use inorder_load::{Error, Job, Progress, Summary, WriterChoice, run};
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use tempfile::TempDir;

/// A load of a table `s` of one database into a table `t` of another, by this writer.
fn job(from: &Path, to: &Path, writer: WriterChoice) -> Job {
    let source = Location {
        path: from.to_owned(),
        table: Some("s".to_owned()),
    };
    let to = to.to_string_lossy().into_owned();
    Job {
        memory_bytes: 1 << 22,
        writer,
        ..Job::new(vec![source], to, "t".to_owned())
    }
}

fn load(job: &Job) -> Result<Summary, Error> {
    run(job, &Progress::default())
}

/// A database that need not survive.
fn open(path: &Path) -> Connection {
    let connection = Connection::open(path).expect("a database");
    connection
        .execute_batch("PRAGMA synchronous = OFF")
        .expect("a setting");
    connection
}

/// A new database from statements.
fn made(path: &Path, statements: &str) -> Connection {
    let connection = open(path);
    connection
        .execute_batch(statements)
        .unwrap_or_else(|error| panic!("{error}: {statements}"));
    connection
}

/// Returns the sorted names of the files in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("folder");
    let name = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = entries.map(|entry| name(entry.expect("entry"))).collect();
    names.sort();
    names
}

/// A folder, in it a database with a table `s` and one with a table `t`; without the latter where it has no
/// statements.
fn pair(source: &str, goal: &str) -> (TempDir, PathBuf, PathBuf) {
    pair_in(tempfile::tempdir().expect("folder"), source, goal)
}

/// The same in memory, where there is such a file system: many databases are made without waiting for a disk.
fn quick_pair(source: &str, goal: &str) -> (TempDir, PathBuf, PathBuf) {
    let memory = tempfile::tempdir_in("/dev/shm");
    let folder = memory.unwrap_or_else(|_| tempfile::tempdir().expect("folder"));
    pair_in(folder, source, goal)
}

fn pair_in(folder: TempDir, source: &str, goal: &str) -> (TempDir, PathBuf, PathBuf) {
    let (from, to) = (folder.path().join("from.db"), folder.path().join("to.db"));
    made(&from, source);
    if !goal.is_empty() {
        made(&to, goal);
    }
    (folder, from, to)
}

/// The result of a query: of each row the literals of its values.
fn rows(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).expect("a query");
    let columns = statement.column_count();
    let mut rows = statement.query([]).expect("rows");
    let mut found = Vec::new();
    while let Some(row) = rows.next().expect("a row") {
        let values = (0..columns).map(|i| literal(row.get_ref(i).expect("a value")));
        found.push(values.collect::<Vec<_>>().join(", "));
    }
    found
}

/// A value as SQL writes it. Bytes, and text that is not UTF-8, stand escaped behind their type.
fn literal(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(integer) => integer.to_string(),
        ValueRef::Real(real) => format!("{real:?}"),
        ValueRef::Text(text) => match str::from_utf8(text) {
            Ok(text) => format!("'{}'", text.replace('\'', "''")),
            Err(_) => format!("text {}", text.escape_ascii()),
        },
        ValueRef::Blob(bytes) => format!("bytes {}", bytes.escape_ascii()),
    }
}

fn assert_whole(connection: &Connection) {
    let check = "PRAGMA integrity_check";
    let found: String = connection
        .query_row(check, [], |row| row.get(0))
        .expect("an answer");
    assert_eq!(found, "ok");
}
