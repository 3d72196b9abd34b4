//! A film on a list, and what is said about it there.

use crate::{
    Error, Result,
    date::{self, now_ms},
    db::{film::Film, undo::Change},
    text,
};
use inorder_key::Ulid;
use rusqlite::{Connection, OptionalExtension, Row};

/// Priorities, the last the most wanted.
pub const PRIORITIES: std::ops::RangeInclusive<i64> = 1..=5;

/// Ratings, the last the best.
pub const RATINGS: std::ops::RangeInclusive<i64> = 1..=10;

/// The priority of a film that was put on a list without one.
pub const PRIORITY: i64 = 3;

/// Characters of a note.
pub const NOTE_CHARACTERS_MAX: usize = 2000;

/// Films on one list.
pub const ENTRIES_MAX: usize = 20_000;

/// The state of an entry. As JSON, every field is optional and unknown fields are refused.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct State {
    /// One of [`PRIORITIES`].
    pub priority: i64,
    /// Whether friends see it.
    pub public: bool,
    /// Whether it was watched.
    pub watched: bool,
    /// The day on which it was watched, if that is known.
    pub watched_on: Option<String>,
    /// One of [`RATINGS`].
    pub rating: Option<i64>,
    /// Never seen by others.
    pub note: Option<String>,
}

impl Default for State {
    fn default() -> Self {
        State {
            priority: PRIORITY,
            public: true,
            watched: false,
            watched_on: None,
            rating: None,
            note: None,
        }
    }
}

impl State {
    /// The columns that [`State::of`] reads, of a table `entry`.
    const COLUMNS: &str =
        "entry.priority, entry.public, entry.watched, entry.watched_on, entry.rating, entry.note";

    /// How many [`State::COLUMNS`] there are.
    const COLUMN_COUNT: usize = 6;

    /// The state of a row that has [`State::COLUMNS`] from this one on.
    fn of(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        Ok(State {
            priority: row.get(first)?,
            public: row.get(first + 1)?,
            watched: row.get(first + 2)?,
            watched_on: row.get(first + 3)?,
            rating: row.get(first + 4)?,
            note: row.get(first + 5)?,
        })
    }

    /// The state, tidied: without an empty note, and with a day and a rating only if it was watched.
    ///
    /// # Errors
    /// [`Error::Invalid`], saying what may be.
    pub fn checked(mut self) -> Result<Self> {
        if !PRIORITIES.contains(&self.priority) {
            return Err(Error::invalid("A priority is between 1 and 5."));
        }
        if self.rating.is_some_and(|rating| !RATINGS.contains(&rating)) {
            return Err(Error::invalid("A rating is between 1 and 10."));
        }
        if self
            .watched_on
            .as_deref()
            .is_some_and(|day| !date::is_day(day))
        {
            return Err(Error::invalid("Write the day as 2026-01-31."));
        }
        self.note = self
            .note
            .map(|note| note.trim().to_owned())
            .filter(|note| text::has_visible(note));
        if self
            .note
            .as_ref()
            .is_some_and(|note| note.chars().count() > NOTE_CHARACTERS_MAX)
        {
            let words = format!("A note has at most {NOTE_CHARACTERS_MAX} characters.");
            return Err(Error::Invalid(words));
        }
        if !self.watched {
            (self.watched_on, self.rating) = (None, None);
        }
        Ok(self)
    }
}

/// A film on a list.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The film.
    pub film: Film,
    /// Its state.
    pub state: State,
    /// When it was put on the list, in milliseconds since 1970.
    pub added_ms: u64,
}

impl Entry {
    pub(super) fn columns() -> String {
        format!("{}, {}, entry.added_ms", Film::COLUMNS, State::COLUMNS)
    }

    pub(super) fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Entry {
            film: Film::of(row)?,
            state: State::of(row, Film::COLUMN_COUNT)?,
            added_ms: row
                .get::<_, i64>(Film::COLUMN_COUNT + State::COLUMN_COUNT)?
                .unsigned_abs(),
        })
    }
}

/// Returns the state of a film on a user's list, if it is there.
///
/// # Errors
/// What SQLite says.
pub fn state(db: &Connection, user: i64, film: i64) -> Result<Option<State>> {
    let sql = format!(
        "SELECT {} FROM entry WHERE user = ?1 AND film = ?2",
        State::COLUMNS
    );
    let mut statement = db.prepare_cached(&sql)?;
    let state = statement.query_row((user, film), |row| State::of(row, 0));
    Ok(state.optional()?)
}

/// Puts a film on a list, or changes what is said about it there. Gives the change, for undoing it.
///
/// # Errors
/// [`Error::Invalid`] as [`State::checked`], and for one film too many.
pub fn put(db: &Connection, user: i64, film: i64, state: State) -> Result<Ulid> {
    let mut added_ms = 0;
    if self::state(db, user, film)?.is_none() {
        check_room(db, user, 1)?;
        added_ms = next_ms(db, user)?;
    }
    let change = Change::begin(db, user)?;
    put_in(db, change, user, film, state, added_ms)?;
    Ok(change.id)
}

/// How far a clock may be set back without the order of a list showing it. Were it more, a clock that once was years ahead
/// would date everything after.
const SET_BACK_MS_MAX: i64 = 48 * 60 * 60 * 1000;

/// The time for films that are added now: that of the clock, or if it was set back, after the last film that was added.
///
/// # Errors
/// What SQLite says.
pub fn next_ms(db: &Connection, user: i64) -> Result<i64> {
    let now = now_ms();
    let sql = "SELECT max(added_ms) FROM entry WHERE user = ?1 AND added_ms <= ?2";
    let mut statement = db.prepare_cached(sql)?;
    let last: Option<i64> = statement.query_row((user, now + SET_BACK_MS_MAX), |row| row.get(0))?;
    Ok(last.map_or(now, |last| now.max(last + 1)))
}

/// Like [`put`], as part of a change of many films for which there is [room](check_room), all added at
/// [the same time](next_ms).
///
/// # Errors
/// As [`put`].
pub fn put_in(
    db: &Connection,
    change: Change,
    user: i64,
    film: i64,
    state: State,
    added_ms: i64,
) -> Result<()> {
    let state = state.checked()?;
    change.remember(db, user, film)?;
    let sql = "INSERT INTO entry(user, film, priority, public, watched, watched_on, rating, note, added_ms)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
               ON CONFLICT DO UPDATE SET priority = excluded.priority, public = excluded.public,
                 watched = excluded.watched, watched_on = excluded.watched_on, rating = excluded.rating,
                 note = excluded.note, place = iif(priority = excluded.priority, place, NULL)";
    db.prepare_cached(sql)?.execute((
        user,
        film,
        state.priority,
        state.public,
        state.watched,
        state.watched_on,
        state.rating,
        state.note,
        added_ms,
    ))?;
    Ok(())
}

/// Whether so many more films may be put on a list.
///
/// # Errors
/// [`Error::Invalid`], saying how many a list holds.
pub fn check_room(db: &Connection, user: i64, more: usize) -> Result<()> {
    let sql = "SELECT count(*) FROM entry WHERE user = ?1";
    let count: i64 = db
        .prepare_cached(sql)?
        .query_row([user], |row| row.get(0))?;
    match count.unsigned_abs() as usize + more <= ENTRIES_MAX {
        true => Ok(()),
        false => Err(Error::Invalid(format!(
            "A list holds at most {ENTRIES_MAX} films."
        ))),
    }
}

/// Puts films on a list that has none of them, with these priorities. Nothing can be undone: this is for filling an account.
///
/// # Errors
/// What SQLite says, for instance that a film is on the list.
pub fn fill(db: &Connection, user: i64, films: &[(i64, i64)]) -> Result<()> {
    let sql = "INSERT INTO entry(user, film, priority, added_ms) VALUES (?1, ?2, ?3, ?4)";
    let mut statement = db.prepare_cached(sql)?;
    let now = now_ms();
    for (film, priority) in films {
        statement.execute((user, film, priority, now))?;
    }
    Ok(())
}

/// Takes a film off a list. Gives the change, for undoing it.
///
/// # Errors
/// [`Error::NotFound`] when it isn't on it.
pub fn remove(db: &Connection, user: i64, film: i64) -> Result<Ulid> {
    let change = Change::begin(db, user)?;
    change.remember(db, user, film)?;
    let sql = "DELETE FROM entry WHERE user = ?1 AND film = ?2";
    match db.prepare_cached(sql)?.execute((user, film))? {
        0 => Err(Error::NotFound("film on the list")),
        _ => Ok(change.id),
    }
}

/// Everything on a list, in the order in which it was added.
///
/// # Errors
/// What SQLite says.
pub fn all(db: &Connection, user: i64) -> Result<Vec<Entry>> {
    let sql = format!(
        "SELECT {} FROM entry JOIN film ON film.number = entry.film
         WHERE entry.user = ?1 ORDER BY entry.added_ms, film.number",
        Entry::columns()
    );
    let mut statement = db.prepare_cached(&sql)?;
    let entries = statement.query_map([user], Entry::of)?;
    Ok(entries.collect::<rusqlite::Result<_>>()?)
}
