//! An SQLite database, as source and as destination.

use std::io::Write as _;
use std::path::PathBuf;

use inorder_engine::remote::EachRow;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use crate::error::Error;

/// A file and a connection to it.
pub struct Database {
    pub path: String,
    pub db: Connection,
}

impl Database {
    /// Opens a file.
    pub fn open(path: &str, flags: OpenFlags) -> Result<Self, Error> {
        let opened = inorder_sqlite::open(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX);
        let db = opened.map_err(|source| failed(path, source))?;
        Ok(Database {
            path: path.to_owned(),
            db,
        })
    }

    /// Runs statements without a result.
    pub fn run(&self, sql: &str) -> Result<(), Error> {
        self.with(|db| db.execute_batch(sql))
    }

    /// Calls `ask` with the connection. An error names the file.
    pub fn with<T>(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        ask(&self.db).map_err(|source| failed(&self.path, source))
    }

    /// The path without links.
    pub fn place(&self) -> PathBuf {
        let path = std::fs::canonicalize(&self.path);
        path.unwrap_or_else(|_| self.path.clone().into())
    }
}

/// The error of a file.
pub fn failed(path: &str, source: rusqlite::Error) -> Error {
    Error::Sqlite {
        path: path.to_owned(),
        source,
    }
}

/// Reads rows as text and bytes.
pub fn each_row(db: &Connection, sql: &str, each: EachRow<'_>) -> rusqlite::Result<()> {
    let mut statement = db.prepare(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let mut numbers: Vec<u8> = Vec::new();
    let mut ends: Vec<usize> = Vec::new();
    while let Some(row) = rows.next()? {
        numbers.clear();
        ends.clear();
        for at in 0..columns {
            let written = match row.get_ref(at)? {
                ValueRef::Integer(integer) => write!(numbers, "{integer}"),
                ValueRef::Real(real) => write!(numbers, "{real:e}"),
                ValueRef::Null | ValueRef::Text(_) | ValueRef::Blob(_) => Ok(()),
            };
            written.expect("memory takes all bytes");
            ends.push(numbers.len());
        }
        let mut values: Vec<Option<&[u8]>> = Vec::with_capacity(columns);
        let mut start = 0;
        for (at, end) in ends.iter().enumerate() {
            values.push(match row.get_ref(at)? {
                ValueRef::Null => None,
                ValueRef::Integer(_) | ValueRef::Real(_) => Some(&numbers[start..*end]),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
            });
            start = *end;
        }
        if !each(&values) {
            break;
        }
    }
    Ok(())
}
