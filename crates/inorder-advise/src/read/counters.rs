//! How far a file's counters have come: AUTOINCREMENT and rowids.

use super::open;
use crate::ddl::quoted;
use rusqlite::Connection;
use serde::Serialize;
use std::path::Path;

/// How far the numbers of a table have come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Reached {
    /// The table.
    pub table: String,
    /// The number that AUTOINCREMENT has reached, as `sqlite_sequence` has it.
    pub sequence: Option<i64>,
    /// The largest rowid.
    pub rowid: Option<i64>,
}

/// Names of the rowid, unless a column has one of them.
const NAMES: [&str; 3] = ["rowid", "_rowid_", "oid"];

impl Reached {
    /// Reads the counters of every rowid table. What a damaged file doesn't tell is left out.
    pub fn read(path: &Path) -> Vec<Self> {
        open(path)
            .map_err(|_| ())
            .and_then(|connection| all(&connection).map_err(|_| ()))
            .unwrap_or_default()
    }
}

fn all(connection: &Connection) -> rusqlite::Result<Vec<Reached>> {
    let tables: Vec<String> = connection
        .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND NOT wr AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")?
        .query_map((), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut found = Vec::new();
    for table in tables {
        // It is there if a table has AUTOINCREMENT.
        let sequence = connection.query_row(
            "SELECT seq FROM main.sqlite_sequence WHERE name = ?1",
            [&table],
            |row| row.get(0),
        );
        found.push(Reached {
            sequence: sequence.ok(),
            rowid: largest_rowid(connection, &table).ok().flatten(),
            table,
        });
    }
    Ok(found)
}

/// The largest rowid, which SQLite finds at the end of the tree.
fn largest_rowid(connection: &Connection, table: &str) -> rusqlite::Result<Option<i64>> {
    let columns: Vec<String> = connection
        .prepare("SELECT name FROM pragma_table_xinfo(?1)")?
        .query_map([table], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let is_free = |name: &&&str| !columns.iter().any(|own| own.eq_ignore_ascii_case(name));
    let Some(name) = NAMES.iter().find(is_free) else {
        return Ok(None);
    };
    let sql = format!("SELECT max({name}) FROM main.{}", quoted(table));
    connection.query_row(&sql, (), |row| row.get(0))
}
