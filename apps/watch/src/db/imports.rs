//! Imports that wait for their user's confirmation.

use crate::{Error, Result, date::now_ms};
use inorder_key::{TimeId, Ulid};
use rusqlite::{Connection, OptionalExtension};

/// The time for which an import waits, in hours.
pub const HOURS_MAX: i64 = 24;

/// Keeps what was read of a file. An earlier one of the user is replaced, and old ones of all users are removed.
///
/// # Errors
/// SQLite's error.
pub fn keep(db: &Connection, user: i64, reading: &str) -> Result<Ulid> {
    let since_ms = u64::try_from(now_ms() - HOURS_MAX * 60 * 60 * 1000).unwrap_or_default();
    let since = Ulid::first_at(since_ms).unwrap_or(Ulid::NIL);
    db.prepare_cached("DELETE FROM import WHERE id < ?1")?
        .execute([since.to_bytes()])?;
    let sql = "INSERT OR REPLACE INTO import(user, reading) VALUES (?1, ?2) RETURNING id";
    let mut statement = db.prepare_cached(sql)?;
    let id = statement.query_row((user, reading), |row| row.get(0))?;
    Ok(Ulid::from_bytes(id))
}

/// Returns what was read of a file.
///
/// # Errors
/// [`Error::NotFound`] if the import was confirmed, replaced or removed.
pub fn reading(db: &Connection, user: i64, id: Ulid) -> Result<String> {
    let sql = "SELECT reading FROM import WHERE user = ?1 AND id = ?2";
    let mut statement = db.prepare_cached(sql)?;
    let reading = statement.query_row((user, id.to_bytes()), |row| row.get(0));
    reading.optional()?.ok_or(Error::NotFound("import"))
}

/// Removes an import.
///
/// # Errors
/// [`Error::NotFound`] if the import was confirmed, replaced or removed.
pub fn remove(db: &Connection, user: i64, id: Ulid) -> Result<()> {
    let sql = "DELETE FROM import WHERE user = ?1 AND id = ?2";
    match db.prepare_cached(sql)?.execute((user, id.to_bytes()))? {
        0 => Err(Error::NotFound("import")),
        _ => Ok(()),
    }
}

/// Whether an import of the user waits.
///
/// # Errors
/// SQLite's error.
pub fn waits(db: &Connection, user: i64) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM import WHERE user = ?1)";
    Ok(db
        .prepare_cached(sql)?
        .query_row([user], |row| row.get(0))?)
}
