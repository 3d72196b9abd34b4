//! The order of the unwatched films: by priority, then by position.

use crate::{Error, Result, db::undo::Change};
use inorder_key::Ulid;
use rusqlite::{Connection, OptionalExtension, Row};

/// The priorities, highest last.
pub const PRIORITIES: std::ops::RangeInclusive<i64> = 1..=5;

/// The order of a list, as the index `entry_order` has it for a user and one value of `watched`.
///
/// Films to watch have no day. The highest priority comes first, then the position. The position of a film that was never moved is the
/// time at which it was added. Watched films come by day, latest first.
pub(super) const ORDER: &str =
    "entry.watched_on DESC, entry.priority DESC, coalesce(entry.place, entry.added_ms), entry.film";

/// What an error calls a film that can be moved.
const TO_WATCH: &str = "to-watch";

/// The direction of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Towards the start of the list.
    Up,
    /// Towards the end of the list.
    Down,
    /// To the start of the list.
    Top,
}

/// Moves a film by one position, or to the start of the list. Beyond the end of its priority it gets the next priority.
/// Returns the change, for undo.
///
/// # Errors
/// [`Error::NotFound`] if it is not among the unwatched films.
pub fn shift(db: &Connection, user: i64, film: i64, direction: Direction) -> Result<Ulid> {
    let priority = priority_of(db, user, film)?;
    let mut group = films_of(db, user, priority)?;
    let at = position(&group, film);
    let (neighbour, next, is_first) = match direction {
        Direction::Up => (at.checked_sub(1), priority + 1, false),
        Direction::Down => (
            Some(at + 1).filter(|&next| next < group.len()),
            priority - 1,
            true,
        ),
        Direction::Top => return take_place(db, user, film, first(db, user)?),
    };
    let change = Change::begin(db, user)?;
    if let Some(neighbour) = neighbour {
        group.swap(at, neighbour);
        place(db, change, user, &group, neighbour, priority)?;
    } else if PRIORITIES.contains(&next) {
        let mut group = films_of(db, user, next)?;
        let at = if is_first { 0 } else { group.len() };
        group.insert(at, placed(db, user, film)?);
        place(db, change, user, &group, at, next)?;
    }
    Ok(change.id)
}

/// Moves a film to the position and the priority of another, which makes room towards the film's old position. Returns the
/// change, for undo.
///
/// # Errors
/// [`Error::NotFound`] if one of them is not among the unwatched films.
pub fn take_place(db: &Connection, user: i64, film: i64, other: i64) -> Result<Ulid> {
    let (old, new) = (priority_of(db, user, film)?, priority_of(db, user, other)?);
    let mut group = films_of(db, user, new)?;
    let to = position(&group, other);
    let at = if old == new {
        let from = position(&group, film);
        if from == to {
            let change = Change::begin(db, user)?;
            change.record(db, user, film, || Ok(()))?;
            return Ok(change.id);
        }
        let moved = group.remove(from);
        group.insert(to, moved);
        to
    } else {
        let at = if old > new { to + 1 } else { to };
        group.insert(at, placed(db, user, film)?);
        at
    };
    let change = Change::begin(db, user)?;
    place(db, change, user, &group, at, new)?;
    Ok(change.id)
}

fn position(films: &[Placed], film: i64) -> usize {
    let position = films.iter().position(|other| other.film == film);
    position.unwrap_or_default()
}

/// Returns the first film of the list.
fn first(db: &Connection, user: i64) -> Result<i64> {
    let sql =
        format!("SELECT film FROM entry WHERE user = ?1 AND watched = 0 ORDER BY {ORDER} LIMIT 1");
    let first = db.prepare_cached(&sql)?.query_row([user], |row| row.get(0));
    first.optional()?.ok_or(Error::NotFound(TO_WATCH))
}

/// Returns the priority of an unwatched film.
fn priority_of(db: &Connection, user: i64, film: i64) -> Result<i64> {
    let sql = "SELECT priority FROM entry WHERE user = ?1 AND film = ?2 AND NOT watched";
    let priority = db
        .prepare_cached(sql)?
        .query_row((user, film), |row| row.get(0));
    priority.optional()?.ok_or(Error::NotFound(TO_WATCH))
}

/// A film with its position in the order of the list.
struct Placed {
    film: i64,
    /// The time at which it was added, if it was never moved.
    place: f64,
}

impl Placed {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        let (film, place) = (row.get(0)?, row.get(1)?);
        Ok(Placed { film, place })
    }
}

/// Returns a film with its position.
fn placed(db: &Connection, user: i64, film: i64) -> Result<Placed> {
    let sql = "SELECT film, CAST(coalesce(place, added_ms) AS REAL) FROM entry WHERE user = ?1 AND film = ?2";
    let mut statement = db.prepare_cached(sql)?;
    Ok(statement.query_row((user, film), Placed::of)?)
}

/// Returns the unwatched films of this priority, in order.
fn films_of(db: &Connection, user: i64, priority: i64) -> Result<Vec<Placed>> {
    let sql = format!(
        "SELECT film, CAST(coalesce(place, added_ms) AS REAL) FROM entry
         WHERE user = ?1 AND watched = 0 AND priority = ?2 ORDER BY {ORDER}"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let films = statement.query_map((user, priority), Placed::of)?;
    Ok(films.collect::<rusqlite::Result<_>>()?)
}

/// The least distance of two positions that a third one is put between. Positions are times in milliseconds, whose resolution is
/// finer.
const GAP_MIN: f64 = 1.0 / 16.0;

/// Writes the position of the film that now stands at this index, between those of its neighbours. Where there is no room, films
/// before it move too, as few as possible. A device without a connection does the same (`settle` in device.js): what both have
/// moved stays where each has moved it.
fn place(
    db: &Connection,
    change: Change,
    user: i64,
    films: &[Placed],
    index: usize,
    priority: i64,
) -> Result<()> {
    let before = index.checked_sub(1).map(|before| films[before].place);
    let after = films.get(index + 1).map(|after| after.place);
    let own = match (before, after) {
        (None, None) => films[index].place,
        (Some(before), None) => before + 1.0,
        (Some(before), Some(after)) if after - before > GAP_MIN => f64::midpoint(before, after),
        (_, Some(after)) => after - 1.0,
    };
    let sql = "UPDATE entry SET priority = ?3, place = ?4 WHERE user = ?1 AND film = ?2";
    let mut update = db.prepare_cached(sql)?;
    let mut put = |film: i64, place: f64| {
        let put = || Ok(update.execute((user, film, priority, place))?);
        change.record(db, user, film, put)
    };
    let mut next = own;
    put(films[index].film, own)?;
    for film in films[..index].iter().rev() {
        if film.place < next {
            break;
        }
        next -= 1.0;
        put(film.film, next)?;
    }
    Ok(())
}
