//! An entry: a film on a list with its state.

use super::{
    order::{ORDER, PRIORITIES},
    tags,
};
use crate::{
    Error, Result,
    date::{self, now_ms},
    db::{
        film::{ENTRIES_MAX, Film, SEASONS_MAX, YEARS, names_of},
        films,
        undo::Change,
    },
    text,
    words::say,
};
use inorder_key::Ulid;
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::json;
use std::sync::LazyLock;

/// The ratings, best last.
pub const RATINGS: std::ops::RangeInclusive<i64> = 1..=10;

/// The priority of a film added without one.
pub const PRIORITY: i64 = 3;

/// The maximum length of a note in characters.
pub const NOTE_CHARACTERS_MAX: usize = 2000;

/// The maximum number of days on which a film was watched.
pub const DAYS_MAX: usize = 100;

/// The state of an entry. As JSON, every field is optional and unknown fields are refused.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct State {
    /// One of [`PRIORITIES`].
    pub priority: i64,
    /// Whether friends can see the entry.
    pub public: bool,
    /// Whether the film was watched, or all seasons of a series.
    pub watched: bool,
    /// The day on which the film was watched, if known.
    pub watched_on: Option<String>,
    /// Earlier days on which the film was watched, in order.
    pub earlier: Vec<String>,
    /// How many seasons of a series were watched, the first ones.
    pub seasons_watched: u32,
    /// One of [`RATINGS`].
    pub rating: Option<i64>,
    /// A private note.
    pub note: Option<String>,
    /// Names of lists of the user's own, sorted, as [`tags::checked`] leaves them. Private like the note.
    pub tags: Vec<String>,
}

impl Default for State {
    fn default() -> Self {
        State {
            priority: PRIORITY,
            public: true,
            watched: false,
            watched_on: None,
            earlier: Vec::new(),
            seasons_watched: 0,
            rating: None,
            note: None,
            tags: Vec::new(),
        }
    }
}

impl State {
    /// The columns that [`State::of`] reads, of a table `entry`.
    const COLUMNS: &str = "entry.priority, entry.public, entry.watched, entry.watched_on, entry.rating, entry.note, entry.tags, entry.earlier, \
         entry.seasons_watched";

    /// The number of columns in [`State::COLUMNS`].
    const COLUMN_COUNT: usize = 9;

    /// Reads the state from a row whose [`State::COLUMNS`] begin at this column.
    fn of(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        let texts =
            |column| -> rusqlite::Result<_> { Ok(names_of(row.get_ref(column)?.as_str()?)) };
        Ok(State {
            priority: row.get(first)?,
            public: row.get(first + 1)?,
            watched: row.get(first + 2)?,
            watched_on: row.get(first + 3)?,
            rating: row.get(first + 4)?,
            note: row.get(first + 5)?,
            tags: texts(first + 6)?,
            earlier: texts(first + 7)?,
            seasons_watched: row.get(first + 8)?,
        })
    }

    /// Brings the seasons into agreement with the rest: a series that was watched has all of its seasons watched, and the other
    /// way round. `series` is the number of seasons of a series, 0 if it isn't known; `None` for a film.
    fn agree(&mut self, series: Option<usize>) {
        let seasons = u32::try_from(series.unwrap_or_default()).unwrap_or(u32::MAX);
        self.watched |= seasons > 0 && self.seasons_watched >= seasons;
        self.seasons_watched = match (series, self.watched) {
            (None, _) => 0,
            (Some(0), true) => self.seasons_watched.max(1),
            (Some(_), true) => seasons,
            (Some(_), false) => self.seasons_watched.min(SEASONS_MAX as u32),
        };
    }

    /// Validates and normalises the state of a film or a series, as in [`Facts::series`](crate::db::films::Facts::series): removes
    /// an empty note, and the days and the rating of a film that was not watched. A series may be watched in part.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the allowed values.
    pub fn checked(mut self, series: Option<usize>) -> Result<Self> {
        self.agree(series);
        if !PRIORITIES.contains(&self.priority) {
            return Err(Error::Invalid(say::priority_wrong()));
        }
        if self.rating.is_some_and(|rating| !RATINGS.contains(&rating)) {
            return Err(Error::Invalid(say::rating_wrong()));
        }
        self.order_days()?;
        self.note = self.note.as_deref().and_then(tidy_note);
        if self
            .note
            .as_ref()
            .is_some_and(|note| note.chars().count() > NOTE_CHARACTERS_MAX)
        {
            return Err(Error::Invalid(say::note_long(NOTE_CHARACTERS_MAX)));
        }
        self.tags = tags::checked(self.tags)?;
        if !self.watched {
            // The order of films to watch depends on their having no day.
            self.earlier.extend(self.watched_on.take());
        }
        if !self.watched && series.is_none() {
            self.rating = None;
            self.earlier.clear();
        }
        Ok(self)
    }

    /// Keeps what was said before and has no place in the film as it is described now, such as the seasons of a series that has become a
    /// film: others change the description. What was said of a film that was watched ends when it is no longer.
    fn keep(&mut self, before: State, series: Option<usize>) {
        let is_unchanged = self.watched == before.watched;
        match series {
            None if self.watched || is_unchanged => {
                self.seasons_watched = before.seasons_watched;
                if !self.watched {
                    (self.rating, self.earlier) = (before.rating, before.earlier);
                }
            }
            Some(seasons) if seasons > 0 && self.watched => {
                self.seasons_watched = self.seasons_watched.max(before.seasons_watched);
            }
            _ => {}
        }
    }

    /// Leaves only the seasons that there are, for a reader.
    fn shown(&mut self, series: Option<usize>) {
        let seasons = match series {
            None => 0,
            Some(0) => return,
            Some(seasons) => seasons as u32,
        };
        self.seasons_watched = self.seasons_watched.min(seasons);
    }

    /// Orders the days on which the film was watched: the last one is [`State::watched_on`], the others are earlier ones.
    fn order_days(&mut self) -> Result<()> {
        let mut days = std::mem::take(&mut self.earlier);
        days.extend(self.watched_on.take());
        if !days.iter().all(|day| is_watched_day(day)) {
            return Err(Error::Invalid(say::day_wrong()));
        }
        days.sort();
        days.dedup();
        if days.len() > DAYS_MAX {
            return Err(Error::Invalid(say::days_max(DAYS_MAX)));
        }
        self.watched_on = days.pop();
        self.earlier = days;
        Ok(())
    }
}

/// Whether the text is a day on which somebody may have watched a film: one of [`YEARS`].
pub fn is_watched_day(text: &str) -> bool {
    let year = text.get(..4).and_then(|year| year.parse().ok());
    date::is_day(text) && year.is_some_and(|year: i64| YEARS.contains(&year))
}

/// A note as an entry has it: without blanks around it, and with one character per line break. `None` if nothing is visible.
pub fn tidy_note(note: &str) -> Option<String> {
    // A browser sends one line break as two characters, a script or the API as one.
    let note = note.trim().replace("\r\n", "\n").replace('\r', "\n");
    text::has_visible(&note).then_some(note)
}

/// Marks the seasons of a series up to this one as watched. With the last one the series is watched, on this day. Returns the
/// change, for undo, and whether the series is watched now.
///
/// # Errors
/// [`Error::NotFound`] if it is not on the list, or is no series, and [`Error::Invalid`] as for [`State::checked`].
pub fn watch_season(
    db: &Connection,
    user: i64,
    film: i64,
    season: u32,
    day: String,
) -> Result<(Ulid, bool)> {
    let mut state = state(db, user, film)?.ok_or(Error::NotFound("entry"))?;
    let series = films::series(db, film)?.ok_or(Error::NotFound("series"))?;
    let is_last = series > 0 && season as usize >= series;
    state.seasons_watched = season;
    state.watched = false;
    if is_last {
        state.earlier.extend(state.watched_on.replace(day));
    }
    Ok((put(db, user, film, state)?, is_last))
}

/// A film on a list.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The film.
    pub film: Film,
    /// Its state.
    pub state: State,
    /// The time at which it was added to the list, in milliseconds since 1970.
    pub added_ms: u64,
}

impl Entry {
    fn columns() -> String {
        format!("{}, {}, entry.added_ms", Film::COLUMNS, State::COLUMNS)
    }

    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        let film = Film::of(row)?;
        let mut state = State::of(row, Film::COLUMN_COUNT)?;
        state.shown(film.facts.series());
        Ok(Entry {
            film,
            state,
            added_ms: row
                .get::<_, i64>(Film::COLUMN_COUNT + State::COLUMN_COUNT)?
                .unsigned_abs(),
        })
    }
}

/// Returns the state of a film on a user's list, or `None`.
///
/// # Errors
/// SQLite's error.
pub fn state(db: &Connection, user: i64, film: i64) -> Result<Option<State>> {
    let mut state = stored(db, user, film)?;
    if let Some(state) = &mut state {
        state.shown(films::series(db, film)?);
    }
    Ok(state)
}

/// Like [`state`], with what has no place in the film as it is described now.
fn stored(db: &Connection, user: i64, film: i64) -> Result<Option<State>> {
    let sql = format!(
        "SELECT {} FROM entry WHERE user = ?1 AND film = ?2",
        State::COLUMNS
    );
    let mut statement = db.prepare_cached(&sql)?;
    let state = statement.query_row((user, film), |row| State::of(row, 0));
    Ok(state.optional()?)
}

/// Returns the entries of these films of a list, in their order.
///
/// # Errors
/// SQLite's error.
pub(super) fn of_films(db: &Connection, user: i64, films: &[i64]) -> Result<Vec<Entry>> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT {} FROM json_each(?2) place
             CROSS JOIN entry ON entry.user = ?1 AND entry.film = place.value
             CROSS JOIN film ON film.number = entry.film",
            Entry::columns()
        )
    });
    let mut statement = db.prepare_cached(&SQL)?;
    let entries = statement.query_map((user, json!(films).to_string()), Entry::of)?;
    let mut entries = entries.collect::<rusqlite::Result<Vec<Entry>>>()?;
    // SQLite promises no order. Sorting those of a page here takes less time than its sorter, which copies the rows.
    entries.sort_by_key(|entry| films.iter().position(|film| *film == entry.film.number));
    Ok(entries)
}

/// The state of a film on a list, without the film.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The number of the film.
    pub film: i64,
    /// The state.
    pub state: State,
}

/// Returns the states of these films of a list, in their order.
///
/// # Errors
/// SQLite's error.
pub(super) fn states_of_films(db: &Connection, user: i64, films: &[i64]) -> Result<Vec<Listed>> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT entry.film, {} FROM json_each(?2) place
             CROSS JOIN entry ON entry.user = ?1 AND entry.film = place.value",
            State::COLUMNS
        )
    });
    let mut statement = db.prepare_cached(&SQL)?;
    let listed = |row: &Row<'_>| {
        Ok(Listed {
            film: row.get(0)?,
            state: State::of(row, 1)?,
        })
    };
    let states = statement.query_map((user, json!(films).to_string()), listed)?;
    let mut states = states.collect::<rusqlite::Result<Vec<Listed>>>()?;
    states.sort_by_key(|listed| films.iter().position(|film| *film == listed.film));
    Ok(states)
}

/// Adds a film to a list, or changes its state. Returns the change, for undo.
///
/// # Errors
/// [`Error::Invalid`] as for [`State::checked`], and for a full list.
pub fn put(db: &Connection, user: i64, film: i64, state: State) -> Result<Ulid> {
    let mut added_ms = 0;
    if self::state(db, user, film)?.is_none() {
        check_room(db, user)?;
        added_ms = next_ms(db, user)?;
    }
    let change = Change::begin(db, user)?;
    put_in(db, change, user, film, state, added_ms)?;
    Ok(change.id)
}

/// The largest backward step of the clock that is hidden from the order of a list, in milliseconds. With a larger
/// limit, a clock that was once years ahead would date all later entries.
const SET_BACK_MS_MAX: i64 = 48 * 60 * 60 * 1000;

/// The time for films that are added now: the clock's, or if the clock was set back, just after the last added film.
///
/// # Errors
/// SQLite's error.
pub fn next_ms(db: &Connection, user: i64) -> Result<i64> {
    let now = now_ms();
    let sql = "SELECT max(added_ms) FROM entry WHERE user = ?1 AND added_ms <= ?2";
    let mut statement = db.prepare_cached(sql)?;
    let last: Option<i64> = statement.query_row((user, now + SET_BACK_MS_MAX), |row| row.get(0))?;
    Ok(last.map_or(now, |last| now.max(last + 1)))
}

/// Like [`put`], within a change of many films for which there is [`room`], each with its time from [`next_ms`] on.
///
/// # Errors
/// Those of [`put`].
pub fn put_in(
    db: &Connection,
    change: Change,
    user: i64,
    film: i64,
    state: State,
    added_ms: i64,
) -> Result<()> {
    let series = films::series(db, film)?;
    let mut state = state.checked(series)?;
    if let Some(before) = stored(db, user, film)? {
        state.keep(before, series);
    }
    let sql = "INSERT INTO entry(user, film, priority, public, watched, watched_on, rating, note, added_ms, tags, earlier, seasons_watched)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
               ON CONFLICT DO UPDATE SET priority = excluded.priority, public = excluded.public,
                 watched = excluded.watched, watched_on = excluded.watched_on, rating = excluded.rating,
                 note = excluded.note, tags = excluded.tags, earlier = excluded.earlier, seasons_watched = excluded.seasons_watched,
                 place = iif(priority = excluded.priority, place, NULL)";
    let bound = (
        user,
        film,
        state.priority,
        state.public,
        state.watched,
        state.watched_on,
        state.rating,
        state.note,
        added_ms,
        json!(state.tags).to_string(),
        json!(state.earlier).to_string(),
        state.seasons_watched,
    );
    change.record(db, user, film, || {
        db.prepare_cached(sql)?.execute(bound)?;
        Ok(())
    })
}

/// Returns the number of films for which a list has room.
///
/// # Errors
/// SQLite's error.
pub fn room(db: &Connection, user: i64) -> Result<usize> {
    let sql = "SELECT count(*) FROM entry WHERE user = ?1";
    let count: i64 = db
        .prepare_cached(sql)?
        .query_row([user], |row| row.get(0))?;
    Ok(ENTRIES_MAX.saturating_sub(count.unsigned_abs() as usize))
}

/// Checks that a list has room for another film.
///
/// # Errors
/// [`Error::Invalid`], with the maximum.
pub fn check_room(db: &Connection, user: i64) -> Result<()> {
    match room(db, user)? {
        0 => Err(Error::Invalid(say::list_full(ENTRIES_MAX))),
        _ => Ok(()),
    }
}

/// Adds films with these priorities to a list that has none of them, without undo. Used to fill an account.
///
/// # Errors
/// SQLite's error, for instance if a film is already on the list.
pub fn fill(db: &Connection, user: i64, films: &[(i64, i64)]) -> Result<()> {
    let sql = "INSERT INTO entry(user, film, priority, added_ms) VALUES (?1, ?2, ?3, ?4)";
    let mut statement = db.prepare_cached(sql)?;
    let now = now_ms();
    for (film, priority) in films {
        statement.execute((user, film, priority, now))?;
    }
    Ok(())
}

/// Removes a film from a list. Returns the change, for undo.
///
/// # Errors
/// [`Error::NotFound`] if the film is not on the list.
pub fn remove(db: &Connection, user: i64, film: i64) -> Result<Ulid> {
    let change = Change::begin(db, user)?;
    let sql = "DELETE FROM entry WHERE user = ?1 AND film = ?2";
    change.record(db, user, film, || {
        match db.prepare_cached(sql)?.execute((user, film))? {
            0 => Err(Error::NotFound("entry")),
            _ => Ok(change.id),
        }
    })
}

/// Returns all entries of a list in its order, those to watch first.
///
/// # Errors
/// SQLite's error.
pub fn all(db: &Connection, user: i64) -> Result<Vec<Entry>> {
    let sql = format!(
        "SELECT {} FROM entry JOIN film ON film.number = entry.film
         WHERE entry.user = ?1 ORDER BY entry.watched, {ORDER}",
        Entry::columns()
    );
    let mut statement = db.prepare_cached(&sql)?;
    let entries = statement.query_map([user], Entry::of)?;
    Ok(entries.collect::<rusqlite::Result<_>>()?)
}

#[test]
fn nobody_watched_a_film_in_the_year_1_or_in_2999() {
    assert!(is_watched_day("1895-12-28") && is_watched_day(&date::tomorrow()));
    for text in [
        "0001-01-01",
        "1869-12-31",
        "2999-12-31",
        "9999-01-01",
        "2024-02-30",
        "",
    ] {
        assert!(!is_watched_day(text), "{text}");
    }
}
