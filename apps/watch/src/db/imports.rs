//! Imports that wait for their user's confirmation, and what the confirmed ones did.

use crate::{Error, Result, date::now_ms};
use inorder_key::{TimeId, Ulid};
use rusqlite::{Connection, OptionalExtension};

/// The time for which an import waits, in hours.
pub const HOURS_MAX: i64 = 24;

/// Keeps a file. An earlier one of the user is replaced, and old ones of all users are removed.
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

/// Returns a file.
///
/// # Errors
/// [`Error::NotFound`] if the import was confirmed, replaced or removed.
pub fn reading(db: &Connection, user: i64, id: Ulid) -> Result<String> {
    let sql = "SELECT reading FROM import WHERE user = ?1 AND id = ?2 AND change IS NULL";
    let mut statement = db.prepare_cached(sql)?;
    let reading = statement.query_row((user, id.to_bytes()), |row| row.get(0));
    reading.optional()?.ok_or(Error::NotFound("import"))
}

/// Keeps something else in its place.
///
/// # Errors
/// [`Error::NotFound`] if the import was confirmed, replaced or removed.
pub fn change(db: &Connection, user: i64, id: Ulid, reading: &str) -> Result<()> {
    let sql = "UPDATE import SET reading = ?3 WHERE user = ?1 AND id = ?2 AND change IS NULL";
    match db
        .prepare_cached(sql)?
        .execute((user, id.to_bytes(), reading))?
    {
        0 => Err(Error::NotFound("import")),
        _ => Ok(()),
    }
}

/// What a confirmed import did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The change, for undo.
    pub change: Ulid,
    /// What the page says of it, as JSON.
    pub counts: String,
}

/// Returns what a confirmed import did. `None` if it waits, or was replaced or removed.
///
/// # Errors
/// SQLite's error.
pub fn done(db: &Connection, user: i64, id: Ulid) -> Result<Option<Done>> {
    let sql =
        "SELECT change, reading FROM import WHERE user = ?1 AND id = ?2 AND change IS NOT NULL";
    let mut statement = db.prepare_cached(sql)?;
    let done = statement.query_row((user, id.to_bytes()), |row| {
        Ok(Done {
            change: Ulid::from_bytes(row.get(0)?),
            counts: row.get(1)?,
        })
    });
    Ok(done.optional()?)
}

/// Keeps what a confirmed import did, in place of the file.
///
/// # Errors
/// [`Error::NotFound`] if the import waits no longer.
pub fn finish(db: &Connection, user: i64, id: Ulid, done: &Done) -> Result<()> {
    let sql = "UPDATE import SET reading = ?3, change = ?4 WHERE user = ?1 AND id = ?2 AND change IS NULL";
    let bound = (user, id.to_bytes(), &done.counts, done.change.to_bytes());
    match db.prepare_cached(sql)?.execute(bound)? {
        0 => Err(Error::NotFound("import")),
        _ => Ok(()),
    }
}

/// Removes an import that waits.
///
/// # Errors
/// [`Error::NotFound`] if the import was confirmed, replaced or removed.
pub fn remove(db: &Connection, user: i64, id: Ulid) -> Result<()> {
    let sql = "DELETE FROM import WHERE user = ?1 AND id = ?2 AND change IS NULL";
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
    let sql = "SELECT EXISTS (SELECT 1 FROM import WHERE user = ?1 AND change IS NULL)";
    Ok(db
        .prepare_cached(sql)?
        .query_row([user], |row| row.get(0))?)
}
