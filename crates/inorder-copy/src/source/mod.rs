//! The databases that are copied. A source is one file here and one line in [`open`].

mod mariadb;
mod postgres;
mod sqlite;

use std::path::PathBuf;
use std::time::Duration;

use inorder_engine::remote::{EachRow, ReadLimits, Remote, ServerUrl, TextRows};

use crate::error::Error;
use crate::model::{Dialect, Schema, Table, TableStorage};

/// What tells whether a source and a destination are the same.
pub enum Mark {
    /// The path of an SQLite file, without links.
    File(PathBuf),
    /// A query that returns `t` in the schema of PostgreSQL that has the mark. `$1` is the schema of the source.
    Query(String),
}

/// A database that is read from one snapshot.
pub trait Source: Send {
    /// Its name, without a password.
    fn name(&self) -> String;

    /// The SQL that it speaks.
    fn dialect(&self) -> Dialect;

    /// Returns whether it is the database with this mark.
    fn has(&mut self, mark: &Mark) -> Result<bool, Error>;

    /// Reads the tables and what is not copied.
    ///
    /// # Errors
    /// If the source fails.
    fn schema(&mut self) -> Result<Schema, Error>;

    /// Returns the rows of a query as text.
    ///
    /// # Errors
    /// If the source refuses it.
    fn answers(&mut self, sql: &str) -> Result<TextRows, Error>;

    /// The name of a table in a query.
    fn table(&self, table: &Table) -> String;

    /// Reads the rows of a table in the order of its key, all or at most so many.
    ///
    /// # Errors
    /// If the source fails.
    fn rows(
        &mut self,
        table: &Table,
        rows_max: Option<u64>,
        each: EachRow<'_>,
    ) -> Result<(), Error>;

    /// Reads how a table and its indexes are stored.
    ///
    /// # Errors
    /// If the source fails.
    fn storage(&mut self, table: &Table) -> Result<TableStorage, Error>;
}

/// Maximum wait for a lock in the source.
const LOCK_MAX: Duration = Duration::from_secs(30);

/// Opens the database with this URL or path. `schema` is a schema of PostgreSQL.
///
/// # Errors
/// If there is none, or the server refuses.
pub fn open(from: &str, schema: &str) -> Result<Box<dyn Source>, Error> {
    if !from.contains("://") {
        return Ok(Box::new(sqlite::Sqlite::open(from)?));
    }
    let url = ServerUrl::parse(from)?;
    let remote = Remote::at(&url)?;
    let session = remote.read_only(ReadLimits {
        // A table may take hours.
        statement_max: Duration::ZERO,
        lock_max: LOCK_MAX,
    })?;
    Ok(match url.engine() {
        "postgres" => Box::new(postgres::Postgres::new(&url, session, schema)),
        _ => Box::new(mariadb::MariaDb::new(&url, session)?),
    })
}

/// Returns a name in double quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The query of a table's rows in the order of its key, all or at most so many. `from` is the table's name, quoted.
fn select(table: &Table, from: &str, quoted: fn(&str) -> String, rows_max: Option<u64>) -> String {
    let list: Vec<&str> = table.columns.iter().map(|column| &*column.read).collect();
    let key: Vec<String> = table.key.iter().map(|name| quoted(name)).collect();
    let order = match key.is_empty() {
        true => String::new(),
        false => format!(" ORDER BY {}", key.join(", ")),
    };
    let limit = rows_max.map_or_else(String::new, |rows| format!(" LIMIT {rows}"));
    format!("SELECT {} FROM {from}{order}{limit}", list.join(", "))
}
