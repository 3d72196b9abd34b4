//! Databases for tests, and what the rules find in them.
#![allow(dead_code)] // each test takes a part

use inorder_advise::{
    advice::{Advice, Observer, Options, advise},
    read::Database,
    rules::{self, Candidate, Class, Group},
};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// Makes a database.
pub fn made(folder: &Path, sql: &str) -> PathBuf {
    let path = folder.join("app.db");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "PRAGMA foreign_keys = OFF; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF",
        )
        .unwrap();
    connection
        .execute_batch(sql)
        .unwrap_or_else(|error| panic!("{error}\n{sql}"));
    path
}

/// Reads a database and finds what could be changed.
pub fn candidates(sql: &str) -> Vec<Candidate> {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path(), sql);
    let mut database = Database::read(&path).unwrap();
    database.scan(&path, 1, &|_| ());
    assert_eq!(database.problems, [""; 0]);
    rules::find(&database)
}

/// The candidates of one kind.
pub fn of(sql: &str, group: Group) -> Vec<Candidate> {
    candidates(sql)
        .into_iter()
        .filter(|candidate| candidate.group == group)
        .collect()
}

/// Objects that would be changed without the application.
pub fn safe(sql: &str, group: Group) -> Vec<String> {
    let found = of(sql, group)
        .into_iter()
        .filter(|candidate| candidate.class == Class::Safe);
    found.map(|candidate| candidate.object).collect()
}

pub struct Silent;

impl Observer for Silent {
    fn step(&self, _: &str) {}
    fn object(&self, _: &str) {}
}

/// The whole advice on a file.
pub fn advice(path: &Path) -> Result<Advice, inorder_advise::Error> {
    let folder = inorder_advise::snapshot::private_folder()?;
    advise(path, folder.path(), &Options::default(), &Silent)
}

/// The estimate from a sample of a file.
pub fn sampled(path: &Path, sample_bytes: u64) -> Result<Advice, inorder_advise::Error> {
    let folder = inorder_advise::snapshot::private_folder()?;
    let options = Options {
        sample_bytes: Some(sample_bytes),
        ..Options::default()
    };
    let found = advise(path, folder.path(), &options, &Silent);
    if let Ok(found) = &found {
        let left = std::fs::read_dir(folder.path()).unwrap();
        let bytes: u64 = left
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum();
        let file = &found.file;
        assert!(
            bytes <= 2 * sample_bytes + 100_000,
            "{bytes} bytes are left of {file:?}"
        );
    }
    found
}

/// Rows of a table with columns of different contents.
pub fn numbers(rows: u32) -> String {
    format!("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})")
}

/// A UUID of a version as an SQL expression over `i`: random, or in order for version 7.
pub fn uuid(version: u8) -> String {
    let first = match version {
        7 => "printf('%012x', 1700000000000 + i * 977)",
        _ => "substr(lower(hex(randomblob(6))), 1, 12)",
    };
    format!(
        "substr({first}, 1, 8) || '-' || substr({first}, 9, 4) || '-{version}' || substr(lower(hex(randomblob(2))), 2) \
         || '-a' || substr(lower(hex(randomblob(2))), 2) || '-' || lower(hex(randomblob(6)))"
    )
}
