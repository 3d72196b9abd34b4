//! The order of the unwatched films: by priority, then by position.

use super::entry::PRIORITIES;
use crate::{Error, Result, db::undo::Change};
use inorder_key::Ulid;
use rusqlite::{Connection, OptionalExtension};

/// The query columns that decide the order of unwatched films: their numbers and ranks. The highest priority comes
/// first, then the position. The position of a film that was never moved is the time at which it was added. The
/// priority outweighs any position: times in milliseconds are below 10^13 until 2286, and the sum is exact below 2^53.
pub(super) const RANK: &str =
    "entry.film, coalesce(entry.place, entry.added_ms) - entry.priority * 10000000000000.0";

/// Runs a query for [`RANK`] and sorts the films. Sorting hundreds here takes less time than SQLite takes to build the
/// sorter's records.
pub(super) fn in_order(
    db: &Connection,
    sql: &str,
    bound: impl rusqlite::Params,
) -> Result<Vec<i64>> {
    let mut statement = db.prepare_cached(sql)?;
    let ranks = statement.query_map(bound, |row| Ok((row.get(1)?, row.get(0)?)))?;
    let mut ranks = ranks.collect::<rusqlite::Result<Vec<(f64, i64)>>>()?;
    ranks.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    Ok(ranks.into_iter().map(|(_, film)| film).collect())
}

/// The direction of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Towards the start of the list.
    Up,
    /// Towards the end of the list.
    Down,
}

/// Moves a film by one position. Beyond the end of its priority it gets the next priority. Returns the change, for
/// undo.
///
/// # Errors
/// [`Error::NotFound`] if it is not among the unwatched films.
pub fn shift(db: &Connection, user: i64, film: i64, direction: Direction) -> Result<Ulid> {
    let sql = "SELECT priority FROM entry WHERE user = ?1 AND film = ?2 AND NOT watched";
    let priority: Option<i64> = db
        .prepare_cached(sql)?
        .query_row((user, film), |row| row.get(0))
        .optional()?;
    let priority = priority.ok_or(Error::NotFound("film to watch on the list"))?;
    let mut group = films_of(db, user, priority)?;
    let at = group
        .iter()
        .position(|&other| other == film)
        .unwrap_or_default();
    let change = Change::begin(db, user)?;
    let neighbour = match direction {
        Direction::Up => at.checked_sub(1),
        Direction::Down => Some(at + 1).filter(|&next| next < group.len()),
    };
    if let Some(neighbour) = neighbour {
        group.swap(at, neighbour);
        place_all(db, change, user, &group, priority)?;
        return Ok(change.id);
    }
    let (next, is_first) = match direction {
        Direction::Up => (priority + 1, false),
        Direction::Down => (priority - 1, true),
    };
    if PRIORITIES.contains(&next) {
        let mut group = films_of(db, user, next)?;
        group.insert(if is_first { 0 } else { group.len() }, film);
        place_all(db, change, user, &group, next)?;
    }
    Ok(change.id)
}

/// Returns the unwatched films of this priority, in order.
fn films_of(db: &Connection, user: i64, priority: i64) -> Result<Vec<i64>> {
    let sql = format!("SELECT {RANK} FROM entry WHERE user = ?1 AND priority = ?2 AND NOT watched");
    in_order(db, &sql, (user, priority))
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
