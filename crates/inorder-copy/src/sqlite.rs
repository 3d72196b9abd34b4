//! An SQLite database, as source and as destination.

use std::io::Write as _;
use std::path::PathBuf;

use inorder_engine::remote::{EachRow, TextRows};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use crate::error::Error;
use crate::model::{Column, Table};
use crate::value::Kind;

/// A file and a connection to it.
pub struct Database {
    pub path: String,
    pub db: Connection,
}

/// Which columns of a table are read with a letter for the storage class.
pub fn tagged(table: &Table) -> Vec<bool> {
    let is_any = |column: &Column| column.kind == Kind::Any;
    table.columns.iter().map(is_any).collect()
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

    /// Returns the rows of a query as text.
    pub fn answers(&self, sql: &str) -> Result<TextRows, Error> {
        self.with(|db| {
            let columns = db.prepare(sql)?.column_count();
            let mut rows = TextRows::new();
            each_row(db, sql, &vec![false; columns], &mut |values| {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                rows.push(values.iter().map(|value| value.map(text)).collect());
                true
            })?;
            Ok(rows)
        })
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

/// The letter for the storage class of a value.
fn letter(value: ValueRef<'_>) -> u8 {
    match value {
        ValueRef::Null => b'n',
        ValueRef::Integer(_) => b'i',
        ValueRef::Real(_) => b'r',
        ValueRef::Text(_) => b't',
        ValueRef::Blob(_) => b'b',
    }
}

/// The value of a text with a letter for its storage class before it.
pub fn of_letter(tagged: &[u8]) -> ValueRef<'_> {
    let Some((letter, value)) = tagged.split_first() else {
        return ValueRef::Null;
    };
    let text = || std::str::from_utf8(value).unwrap_or_default();
    match letter {
        b'i' => text().parse().map_or(ValueRef::Null, ValueRef::Integer),
        b'r' => text().parse().map_or(ValueRef::Null, ValueRef::Real),
        b'b' => ValueRef::Blob(value),
        _ => ValueRef::Text(value),
    }
}

/// Reads rows as text and bytes. A letter for the storage class is before the values of `tagged` columns.
pub fn each_row(
    db: &Connection,
    sql: &str,
    tagged: &[bool],
    each: EachRow<'_>,
) -> rusqlite::Result<()> {
    let mut statement = db.prepare(sql)?;
    let columns = tagged.len();
    let mut rows = statement.query([])?;
    let mut numbers: Vec<u8> = Vec::new();
    let mut ends: Vec<usize> = Vec::new();
    while let Some(row) = rows.next()? {
        numbers.clear();
        ends.clear();
        for (at, is_tagged) in tagged.iter().enumerate() {
            let value = row.get_ref(at)?;
            if *is_tagged {
                numbers.push(letter(value));
            }
            let written = match value {
                ValueRef::Integer(integer) => write!(numbers, "{integer}"),
                ValueRef::Real(real) => write!(numbers, "{real:e}"),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) if *is_tagged => {
                    numbers.write_all(bytes)
                }
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
                _ if tagged[at] => Some(&numbers[start..*end]),
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
