//! Undo of changes to a list.

use crate::{Error, Result, date::now_ms};
use inorder_key::Ulid;
use rusqlite::{Connection, OptionalExtension, Row};

/// The number of undoable changes per user: the last ones.
const CHANGES_MAX: i64 = 20;

/// The time for which the page offers undo.
const OFFER_MS: i64 = 10 * 60 * 1000;

/// The columns of an entry that a change may modify.
pub(super) const COLUMNS: &str = "priority, public, watched, added_ms, place, watched_on, rating, note, tags, earlier, seasons_watched";

/// A change of a list.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// The public id, which contains the time.
    pub id: Ulid,
    /// Greater than that of the user's earlier changes, regardless of the clock.
    sequence: i64,
}

impl Change {
    /// Starts a change and removes changes beyond the maximum. Ends the sharing of empty lists with names.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn begin(db: &Connection, user: i64) -> Result<Self> {
        let sql = "SELECT ulid(), coalesce(max(sequence), 0) + 1 FROM undo WHERE user = ?1";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let (id, sequence) = db.prepare_cached(sql)?.query_row([user], row)?;
        db.prepare_cached("DELETE FROM undo WHERE user = ?1 AND sequence <= ?2")?
            .execute((user, sequence - CHANGES_MAX))?;
        unshare_empty(db, user)?;
        let id = Ulid::from_bytes(id);
        Ok(Change { id, sequence })
    }

    /// Records the state of an entry before the change modifies it.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn remember(self, db: &Connection, user: i64, film: i64) -> Result<()> {
        let sql = format!(
            "INSERT OR IGNORE INTO undo(user, sequence, film, change, before) SELECT ?1, ?2, ?3, ?4,
               (SELECT json_array({COLUMNS}) FROM entry WHERE user = ?1 AND film = ?3)"
        );
        db.prepare_cached(&sql)?
            .execute((user, self.sequence, film, self.id.to_bytes()))?;
        Ok(())
    }
}

/// A change that can be undone.
#[derive(Clone, Debug)]
pub struct Undoable {
    /// The public id.
    pub id: Ulid,
    /// The title of its film if there is only one.
    pub title: Option<String>,
}

/// Returns the sequence number of a change.
fn sequence(db: &Connection, user: i64, change: Ulid) -> Result<Option<i64>> {
    // In most cases it is the last change.
    let sql =
        "SELECT sequence FROM undo WHERE user = ?1 AND change = ?2 ORDER BY sequence DESC LIMIT 1";
    let mut statement = db.prepare_cached(sql)?;
    let sequence = statement.query_row((user, change.to_bytes()), |row| row.get(0));
    Ok(sequence.optional()?)
}

/// The statement that makes entries as rows of `user`, `film` and `before` say, a JSON array of [`COLUMNS`].
pub(super) fn restore_sql(rows: &str) -> String {
    let columns = COLUMNS.split(", ");
    let values = columns
        .clone()
        .enumerate()
        .map(|(i, _)| format!("before ->> {i}"));
    let updates = columns.map(|column| format!("{column} = excluded.{column}"));
    let (values, updates) = (values.collect::<Vec<_>>(), updates.collect::<Vec<_>>());
    format!(
        "INSERT INTO entry(user, film, {COLUMNS}) SELECT user, film, {} FROM {rows}
         ON CONFLICT DO UPDATE SET {}",
        values.join(", "),
        updates.join(", ")
    )
}

/// Restores every entry of a change and removes the change. Ends the sharing of empty lists with names. Returns the number of
/// films.
///
/// # Errors
/// [`Error::NotFound`] if it was already undone, or is too old.
pub fn undo(db: &Connection, user: i64, change: Ulid) -> Result<usize> {
    let sequence = sequence(db, user, change)?.ok_or(Error::NotFound("change"))?;
    let bound = (user, sequence);
    let sql = "DELETE FROM entry WHERE user = ?1
                 AND film IN (SELECT film FROM undo WHERE user = ?1 AND sequence = ?2 AND before IS NULL)";
    db.prepare_cached(sql)?.execute(bound)?;
    let rows = "undo WHERE user = ?1 AND sequence = ?2 AND before IS NOT NULL";
    db.prepare_cached(&restore_sql(rows))?.execute(bound)?;
    let sql = "DELETE FROM undo WHERE user = ?1 AND sequence = ?2";
    let films = db.prepare_cached(sql)?.execute(bound)?;
    unshare_empty(db, user)?;
    Ok(films)
}

/// Ends the sharing of lists with names that have no films any more: a later list with such a name is another one.
fn unshare_empty(db: &Connection, user: i64) -> Result<()> {
    let sql = "DELETE FROM shared_tag WHERE user = ?1 AND NOT EXISTS
                 (SELECT 1 FROM entry INDEXED BY entry_tagged, json_each(entry.tags) tag
                  WHERE entry.user = ?1 AND entry.tags <> '[]' AND tag.value = shared_tag.tag)";
    db.prepare_cached(sql)?.execute([user])?;
    Ok(())
}

/// Returns a change of the user that is recent and not undone, as the page after it names it.
///
/// # Errors
/// SQLite's error.
pub fn recent(db: &Connection, user: i64, change: Option<Ulid>) -> Result<Option<Undoable>> {
    let since = u64::try_from(now_ms() - OFFER_MS).unwrap_or_default();
    let Some(id) = change.filter(|change| change.ms() >= since) else {
        return Ok(None);
    };
    let Some(sequence) = sequence(db, user, id)? else {
        return Ok(None);
    };
    let sql = "SELECT iif(count(*) = 1, (SELECT title FROM film WHERE number = undo.film), NULL)
               FROM undo WHERE user = ?1 AND sequence = ?2";
    let mut statement = db.prepare_cached(sql)?;
    let title = statement.query_row((user, sequence), |row| row.get(0))?;
    Ok(Some(Undoable { id, title }))
}
