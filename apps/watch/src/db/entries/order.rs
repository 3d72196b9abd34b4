//! The order of the unwatched films: by priority, then by position.

use super::entry::PRIORITIES;
use crate::{Error, Result, db::undo::Change};
use inorder_key::Ulid;
use rusqlite::{Connection, OptionalExtension};

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
        place_all(db, change, user, &group, priority)?;
    } else if PRIORITIES.contains(&next) {
        let mut group = films_of(db, user, next)?;
        group.insert(if is_first { 0 } else { group.len() }, film);
        place_all(db, change, user, &group, next)?;
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
    if old == new {
        let from = position(&group, film);
        group.remove(from);
        group.insert(to, film);
    } else {
        group.insert(if old > new { to + 1 } else { to }, film);
    }
    let change = Change::begin(db, user)?;
    place_all(db, change, user, &group, new)?;
    Ok(change.id)
}

fn position(films: &[i64], film: i64) -> usize {
    let position = films.iter().position(|&other| other == film);
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

/// Returns the unwatched films of this priority, in order.
fn films_of(db: &Connection, user: i64, priority: i64) -> Result<Vec<i64>> {
    let sql = format!(
        "SELECT film FROM entry WHERE user = ?1 AND watched = 0 AND priority = ?2 ORDER BY {ORDER}"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let films = statement.query_map((user, priority), |row| row.get(0))?;
    Ok(films.collect::<rusqlite::Result<_>>()?)
}

/// Sets the order of these films. Writes only changed positions.
fn place_all(
    db: &Connection,
    change: Change,
    user: i64,
    films: &[i64],
    priority: i64,
) -> Result<()> {
    let sql = "SELECT priority IS ?3 AND place IS ?4 FROM entry WHERE user = ?1 AND film = ?2";
    let mut is_placed = db.prepare_cached(sql)?;
    let sql = "UPDATE entry SET priority = ?3, place = ?4 WHERE user = ?1 AND film = ?2";
    let mut update = db.prepare_cached(sql)?;
    // Positions begin at 1, far below the time of any film that is added later, which therefore comes last.
    for (film, place) in films.iter().zip(1i32..) {
        let bound = (user, film, priority, f64::from(place));
        if !is_placed.query_row(bound, |row| row.get(0))? {
            change.remember(db, user, *film)?;
            update.execute(bound)?;
        }
    }
    Ok(())
}
