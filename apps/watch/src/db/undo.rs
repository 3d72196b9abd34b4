//! Undo of changes to a list.

use crate::{Error, Result, date::now_ms};
use inorder_key::Ulid;
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::{Value, json};
use std::{collections::HashMap, io, ops::AddAssign};

/// The number of undoable changes per user: the last ones.
const CHANGES_MAX: i64 = 20;

/// The time for which the page offers undo.
const OFFER_MS: i64 = 10 * 60 * 1000;

/// The films that [`undo_some`] restores: some tens of milliseconds, which is how long others wait.
const FILMS_AT_ONCE: usize = 500;

/// The columns of an entry that a change may modify.
pub(super) const COLUMNS: &str = "priority, public, watched, added_ms, place, watched_on, rating, note, tags, earlier, seasons_watched";

/// The fields of an entry, as positions in [`COLUMNS`]. The columns of one field depend on each other.
const FIELDS: [&[usize]; 7] = [&[0], &[1], &[2, 5, 6, 9, 10], &[3], &[4], &[7], &[8]];

/// What a film that was put on the list says, without the time and the place: a move is no change of it, as in the trigger
/// `entry_changed`.
const LISTED: &[usize] = &[0, 1, 2, 5, 6, 7, 8, 9, 10];

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

    /// Does work that modifies the entry of a film, and records what the entry said before and after it.
    ///
    /// # Errors
    /// Those of the work, and SQLite's error.
    pub fn record<T>(
        self,
        db: &Connection,
        user: i64,
        film: i64,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let said = format!("SELECT json_array({COLUMNS}) FROM entry WHERE user = ?1 AND film = ?2");
        let mut statement = db.prepare_cached(&said)?;
        let before = statement.query_row((user, film), |row| row.get::<_, String>(0));
        let before = before.optional()?;
        let done = work()?;
        let sql = format!(
            "INSERT INTO undo(user, film, sequence, change, before, after) VALUES (?1, ?2, ?3, ?4, ?5, ({said}))
             ON CONFLICT DO UPDATE SET after = excluded.after"
        );
        db.prepare_cached(&sql)?.execute((
            user,
            film,
            self.sequence,
            self.id.to_bytes(),
            before,
        ))?;
        Ok(done)
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
    // The last change first, which it is in most cases. A change may have many films: one of each is looked at.
    let sql = "WITH RECURSIVE known(sequence) AS (
                 SELECT max(sequence) FROM undo WHERE user = ?1
                 UNION ALL
                 SELECT (SELECT max(undo.sequence) FROM undo WHERE undo.user = ?1 AND undo.sequence < known.sequence)
                 FROM known WHERE known.sequence IS NOT NULL)
               SELECT sequence FROM known
               WHERE (SELECT change FROM undo WHERE undo.user = ?1 AND undo.sequence = known.sequence LIMIT 1) = ?2 LIMIT 1";
    let mut statement = db.prepare_cached(sql)?;
    let sequence = statement.query_row((user, change.to_bytes()), |row| row.get(0));
    Ok(sequence.optional()?)
}

/// Makes the entry of a film say this, a JSON array of [`COLUMNS`]; `None` takes the film off the list.
///
/// # Errors
/// SQLite's error.
pub(super) fn write_entry(db: &Connection, user: i64, film: i64, said: Option<&str>) -> Result<()> {
    let Some(said) = said else {
        db.prepare_cached("DELETE FROM entry WHERE user = ?1 AND film = ?2")?
            .execute((user, film))?;
        return Ok(());
    };
    let columns = COLUMNS.split(", ");
    let values = columns
        .clone()
        .enumerate()
        .map(|(i, _)| format!("?3 ->> {i}"));
    let updates = columns.map(|column| format!("{column} = excluded.{column}"));
    let (values, updates) = (values.collect::<Vec<_>>(), updates.collect::<Vec<_>>());
    let sql = format!(
        "INSERT INTO entry(user, film, {COLUMNS}) VALUES (?1, ?2, {})
         ON CONFLICT DO UPDATE SET {}",
        values.join(", "),
        updates.join(", ")
    );
    db.prepare_cached(&sql)?.execute((user, film, said))?;
    Ok(())
}

/// What an entry says, as [`COLUMNS`]; empty if the film is not on the list.
type Said = Vec<Value>;

/// Whether two entries differ in one of these columns.
fn differ(one: &Said, other: &Said, columns: &[usize]) -> bool {
    let is_other = |column: &usize| one.get(*column) != other.get(*column);
    columns.iter().any(is_other)
}

/// What a change did to an entry.
struct Step {
    before: Said,
    after: Said,
}

impl Step {
    /// Reads a step from a row whose `before` is this column, followed by `after`.
    fn of(row: &Row<'_>, column: usize) -> Result<Self> {
        Ok(Step {
            before: said(row, column)?,
            after: said(row, column + 1)?,
        })
    }

    fn changes(&self, columns: &[usize]) -> bool {
        differ(&self.before, &self.after, columns)
    }

    /// Returns what the entry says without this step, and whether something is left because it was changed since: by a later step,
    /// or as the present state shows.
    fn undone(self, now: &Said, later: &[Step]) -> (Said, bool) {
        let is_later = |columns: &[usize]| {
            differ(now, &self.after, columns) || later.iter().any(|step| step.changes(columns))
        };
        if self.before.is_empty() != self.after.is_empty() {
            return match is_later(LISTED) {
                true => (now.clone(), differ(now, &self.before, LISTED)),
                false => (self.before, false),
            };
        }
        let (mut said, mut is_left) = (now.clone(), false);
        for field in FIELDS.into_iter().filter(|field| self.changes(field)) {
            if !is_later(field) {
                for &column in field {
                    said[column].clone_from(&self.before[column]);
                }
            } else if differ(now, &self.before, field) {
                is_left = true;
            }
        }
        (said, is_left)
    }
}

fn said(row: &Row<'_>, column: usize) -> Result<Said> {
    let text: Option<String> = row.get(column)?;
    let said = text.map(|text| serde_json::from_str(&text)).transpose();
    Ok(said.map_err(io::Error::other)?.unwrap_or_default())
}

/// A film of a change with what the change did and what the entry says now.
type Film = (i64, Step, Said);

/// Returns the first films of a change, and whether these are all.
fn steps(db: &Connection, user: i64, sequence: i64) -> Result<(Vec<Film>, bool)> {
    let sql = format!(
        "SELECT undo.film, before, after,
           (SELECT json_array({COLUMNS}) FROM entry WHERE entry.user = undo.user AND entry.film = undo.film)
         FROM undo WHERE user = ?1 AND sequence = ?2 ORDER BY film LIMIT {FILMS_AT_ONCE} + 1"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query((user, sequence))?;
    let mut steps = Vec::new();
    while let Some(row) = rows.next()? {
        steps.push((row.get(0)?, Step::of(row, 1)?, said(row, 3)?));
    }
    let is_all = steps.len() <= FILMS_AT_ONCE;
    steps.truncate(FILMS_AT_ONCE);
    Ok((steps, is_all))
}

/// Returns what later changes, those that were not undone, did to the films of a change up to this one.
fn later_steps(
    db: &Connection,
    user: i64,
    sequence: i64,
    last: i64,
) -> Result<HashMap<i64, Vec<Step>>> {
    // The few later changes first: each film is looked up in them.
    let sql = "WITH RECURSIVE later(sequence) AS (
                 SELECT ?2
                 UNION ALL
                 SELECT (SELECT min(undo.sequence) FROM undo WHERE undo.user = ?1 AND undo.sequence > later.sequence)
                 FROM later WHERE later.sequence IS NOT NULL)
               SELECT other.film, other.before, other.after FROM undo
               CROSS JOIN later ON later.sequence > ?2
               CROSS JOIN undo other ON other.user = ?1 AND other.sequence = later.sequence AND other.film = undo.film
               WHERE undo.user = ?1 AND undo.sequence = ?2 AND undo.film <= ?3";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query((user, sequence, last))?;
    let mut steps: HashMap<i64, Vec<Step>> = HashMap::new();
    while let Some(row) = rows.next()? {
        let film = steps.entry(row.get(0)?).or_default();
        film.push(Step::of(row, 1)?);
    }
    Ok(steps)
}

/// The result of [`undo`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    /// The number of films that are as before, at least in part.
    pub films: usize,
    /// The number of films of which something stays, because it was changed since.
    pub left: usize,
}

impl AddAssign for Undone {
    fn add_assign(&mut self, more: Undone) {
        self.films += more.films;
        self.left += more.left;
    }
}

/// Restores the fields that a change modified, except those that were changed since, and removes the change. A film that the change added
/// stays if anything but its place was changed since, and one that it took off and that was added since stays as it is. Ends the
/// sharing of empty lists with names.
///
/// # Errors
/// [`Error::NotFound`] if it was already undone, or is too old.
pub fn undo(db: &Connection, user: i64, change: Ulid) -> Result<Undone> {
    let mut undone = Undone::default();
    loop {
        let (some, is_all) = undo_some(db, user, change)?;
        undone += some;
        if is_all {
            return Ok(undone);
        }
    }
}

/// Like [`undo`], for at most 500 films. Returns also whether these were all that were left of the change. The others stay undoable.
///
/// # Errors
/// Those of [`undo`].
pub fn undo_some(db: &Connection, user: i64, change: Ulid) -> Result<(Undone, bool)> {
    let sequence = sequence(db, user, change)?.ok_or(Error::NotFound("change"))?;
    let (steps, is_all) = steps(db, user, sequence)?;
    let last = steps.last().map_or(0, |(film, ..)| *film);
    let later = later_steps(db, user, sequence, last)?;
    let mut undone = Undone::default();
    for (film, step, now) in steps {
        let later = later.get(&film).map_or(&[][..], Vec::as_slice);
        let (said, is_left) = step.undone(&now, later);
        if said != now {
            let text = (!said.is_empty()).then(|| json!(said).to_string());
            write_entry(db, user, film, text.as_deref())?;
        }
        undone.films += usize::from(!is_left || said != now);
        undone.left += usize::from(is_left);
    }
    db.prepare_cached("DELETE FROM undo WHERE user = ?1 AND sequence = ?2 AND film <= ?3")?
        .execute((user, sequence, last))?;
    if is_all {
        unshare_empty(db, user)?;
    }
    Ok((undone, is_all))
}

/// Ends the sharing of lists with names that have no films any more: a later list with such a name is another one.
fn unshare_empty(db: &Connection, user: i64) -> Result<()> {
    let sql = "DELETE FROM shared_tag WHERE user = ?1 AND NOT EXISTS
                 (SELECT 1 FROM entry INDEXED BY entry_tagged, json_each(entry.tags) tag
                  WHERE entry.user = ?1 AND entry.tags <> '[]' AND tag.value = shared_tag.tag)";
    db.prepare_cached(sql)?.execute([user])?;
    Ok(())
}

/// Returns the user's last change, if it changed one of these columns of a film, as positions in [`COLUMNS`], or put the film on the list.
///
/// # Errors
/// SQLite's error.
pub(super) fn last(
    db: &Connection,
    user: i64,
    film: i64,
    columns: &[usize],
) -> Result<Option<Ulid>> {
    let sql = "SELECT change, before, after FROM undo
               WHERE user = ?1 AND sequence = (SELECT max(sequence) FROM undo WHERE user = ?1) AND film = ?2";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query((user, film))?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let id = Ulid::from_bytes(row.get(0)?);
    let is_changed = Step::of(row, 1)?.changes(columns);
    Ok(is_changed.then_some(id))
}

/// Returns whether a change can be undone: it was not undone, and is not too old.
///
/// # Errors
/// SQLite's error.
pub fn is_undoable(db: &Connection, user: i64, change: Ulid) -> Result<bool> {
    Ok(sequence(db, user, change)?.is_some())
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
