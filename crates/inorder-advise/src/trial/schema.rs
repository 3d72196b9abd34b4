//! The size of a schema after VACUUM.

use crate::{Error, read};
use rusqlite::Connection;
use std::path::Path;

/// The pages of a schema.
const PAGES: &str = "SELECT count(*) FROM dbstat WHERE name = 'sqlite_schema'";

/// Bytes that a copy has after VACUUM. Its trees are built as full as VACUUM builds them, but for the schema.
///
/// # Errors
/// Those of reading the copy.
pub(super) fn bytes_after_vacuum(path: &Path) -> Result<u64, Error> {
    let bytes = super::length(path)?;
    let connection = read::open(path)?;
    let pages: u64 = connection.query_row(PAGES, (), |row| row.get(0))?;
    let page_bytes: u64 = connection.query_row("PRAGMA page_size", (), |row| row.get(0))?;
    // A schema that can't be made by statements stays as it is.
    let made = pages_after_vacuum(&connection).unwrap_or(pages);
    Ok(bytes + made.saturating_sub(pages) * page_bytes)
}

/// Pages that VACUUM gives the schema of a database: it makes the objects of an empty file one after another, and writes
/// the row of each twice, which leaves room that rows written in their order would not.
fn pages_after_vacuum(connection: &Connection) -> Result<u64, Error> {
    let made = inorder_sqlite::open_in_memory()?;
    for pragma in ["page_size", "encoding"] {
        let sql = format!("SELECT CAST({pragma} AS TEXT) FROM pragma_{pragma}");
        let value: String = connection.query_row(&sql, (), |row| row.get(0))?;
        made.execute_batch(&format!("PRAGMA {pragma} = '{value}'"))?;
    }
    read::prepare(&made)?;
    read::stand_in(&made, &read::missing(connection)?)?;
    let has_statistics = connection.table_exists(None, "sqlite_stat1")?;
    let objects = "SELECT sql, type = 'index' FROM main.sqlite_schema
        WHERE rootpage > 0 AND sql IS NOT NULL AND name NOT GLOB 'sqlite_*' ORDER BY 2, rowid";
    let mut objects = connection.prepare(objects)?;
    let mut objects = objects.query(())?;
    let mut is_analyzed = !has_statistics;
    while let Some(object) = objects.next()? {
        if object.get::<_, bool>(1)? && !is_analyzed {
            made.execute_batch("ANALYZE")?;
            is_analyzed = true;
        }
        made.execute_batch(&object.get::<_, String>(0)?)?;
    }
    made.execute_batch("PRAGMA writable_schema = ON")?;
    let others = "SELECT type, name, tbl_name, sql FROM main.sqlite_schema
        WHERE coalesce(rootpage, 0) = 0 ORDER BY rowid";
    let mut others = connection.prepare(others)?;
    let mut others = others.query(())?;
    while let Some(row) = others.next()? {
        let text = |at: usize| row.get::<_, Option<String>>(at);
        let insert = "INSERT INTO main.sqlite_schema VALUES (?1, ?2, ?3, 0, ?4)";
        made.execute(insert, (text(0)?, text(1)?, text(2)?, text(3)?))?;
    }
    Ok(made.query_row(PAGES, (), |row| row.get(0))?)
}
