//! Undoing changes of a list.

use super::now_ms;
use crate::{Error, Result};
use inorder_key::{TimeId, Ulid};
use rusqlite::{Connection, OptionalExtension};

/// Changes of a user that can be undone: the last ones.
const CHANGES_MAX: i64 = 20;

/// How long the page offers to undo what was done.
const OFFER_MS: i64 = 10 * 60 * 1000;

/// The columns of an entry that a change may touch.
const COLUMNS: &str = "priority, public, watched, added_ms, place, watched_on, rating, note";

/// Begins a change, and forgets those that are too many.
///
/// # Errors
/// What SQLite says.
pub fn begin(db: &Connection, user: i64) -> Result<Ulid> {
    let sql = "DELETE FROM undo WHERE user = ?1 AND change <
                 (SELECT DISTINCT change FROM undo WHERE user = ?1 ORDER BY change DESC LIMIT 1 OFFSET ?2)";
    db.prepare_cached(sql)?.execute((user, CHANGES_MAX - 2))?;
    let change = db
        .prepare_cached("SELECT ulid()")?
        .query_row([], |row| row.get(0))?;
    Ok(Ulid::from_bytes(change))
}

/// Writes down how a film was on the list before the change touches it.
///
/// # Errors
/// What SQLite says.
pub fn remember(db: &Connection, change: Ulid, user: i64, film: i64) -> Result<()> {
    let sql = format!(
        "INSERT OR IGNORE INTO undo SELECT ?1, ?2, ?3,
           (SELECT json_array({COLUMNS}) FROM entry WHERE user = ?1 AND film = ?3)"
    );
    db.prepare_cached(&sql)?
        .execute((user, change.to_bytes(), film))?;
    Ok(())
}

/// Puts every film of a change back to how it was, and forgets the change. Gives how many films those were.
///
/// # Errors
/// [`Error::NotFound`] when it was undone already, or is too old.
pub fn undo(db: &Connection, user: i64, change: Ulid) -> Result<usize> {
    let bound = (user, change.to_bytes());
    let sql = "DELETE FROM entry WHERE user = ?1
                 AND film IN (SELECT film FROM undo WHERE user = ?1 AND change = ?2)";
    db.prepare_cached(sql)?.execute(bound)?;
    let values: Vec<String> = (0..COLUMNS.split(", ").count())
        .map(|i| format!("before ->> {i}"))
        .collect();
    let sql = format!(
        "INSERT INTO entry(user, film, {COLUMNS}) SELECT user, film, {} FROM undo
         WHERE user = ?1 AND change = ?2 AND before IS NOT NULL",
        values.join(", ")
    );
    db.prepare_cached(&sql)?.execute(bound)?;
    let sql = "DELETE FROM undo WHERE user = ?1 AND change = ?2";
    match db.prepare_cached(sql)?.execute(bound)? {
        0 => Err(Error::NotFound("change")),
        films => Ok(films),
    }
}

/// The user's last change, if it is recent, and the title of its film if that is one.
///
/// # Errors
/// What SQLite says.
pub fn last(db: &Connection, user: i64) -> Result<Option<(Ulid, Option<String>)>> {
    let since = u64::try_from(now_ms() - OFFER_MS).unwrap_or_default();
    let since = Ulid::first_at(since).unwrap_or(Ulid::NIL);
    let sql =
        "SELECT change, iif(count(*) = 1, (SELECT title FROM film WHERE number = undo.film), NULL)
               FROM undo WHERE user = ?1 AND change = (SELECT max(change) FROM undo WHERE user = ?1)
                 AND change >= ?2 GROUP BY change";
    let mut statement = db.prepare_cached(sql)?;
    let last = statement.query_row((user, since.to_bytes()), |row| {
        Ok((Ulid::from_bytes(row.get(0)?), row.get(1)?))
    });
    Ok(last.optional()?)
}
