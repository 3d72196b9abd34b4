//! Connections to SQLite databases.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::Error;
use crate::sql::quoted;

/// The time that a connection waits for a lock.
pub(crate) const BUSY: Duration = Duration::from_secs(10);

pub(crate) fn failed(path: &Path) -> impl Fn(rusqlite::Error) -> Error {
    let path = path.to_owned();
    move |source| {
        let path = path.clone();
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Error::Full { path },
            _ => Error::Database { path, source },
        }
    }
}

/// Opens a database, registers the SQL functions of this project, and sets the busy timeout.
pub(crate) fn open_database(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = inorder_sqlite::open(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY)?;
    Ok(connection)
}

/// Checks that the schema is unchanged since it was described.
///
/// # Errors
/// [`Error::Refused`] if it isn't.
pub(crate) fn check_schema(
    connection: &Connection,
    path: &Path,
    schema_version: i64,
) -> Result<(), Error> {
    let version = "PRAGMA main.schema_version";
    let now: i64 = connection
        .query_row(version, [], |row| row.get(0))
        .map_err(failed(path))?;
    if now == schema_version {
        return Ok(());
    }
    Err(Error::Refused {
        what: format!(
            "{}: the schema changed while the loader read the rows; run the load again",
            path.display()
        ),
    })
}

/// Describes the first rows of a table that violate foreign keys.
pub(crate) fn orphans(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    const TOLD_MAX: usize = 5;
    let check = format!("PRAGMA main.foreign_key_check({})", quoted(table));
    let mut statement = connection.prepare(&check)?;
    let orphans = statement.query_map([], |row| {
        let rowid: Option<i64> = row.get(1)?;
        let parent: String = row.get(2)?;
        let row = rowid.map_or("a row".to_owned(), |rowid| format!("row {rowid}"));
        Ok(format!("{row} of {table} has no parent in {parent}"))
    })?;
    orphans.take(TOLD_MAX).collect()
}
