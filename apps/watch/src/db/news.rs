//! What is new for a user: requests, and films that friends have added.

use super::film::Film;
use crate::{Result, secret::Secret};
use rusqlite::{Connection, OptionalExtension};

/// The films of a feed.
const ADDITIONS_MAX: usize = 50;

/// A film that a friend has added to the public part of a list.
#[derive(Clone, Debug)]
pub struct Addition {
    /// The friend's name.
    pub friend: String,
    /// The film.
    pub film: Film,
    /// Whether the friend has watched it.
    pub watched: bool,
    /// The time at which it was added, in milliseconds since 1970.
    pub added_ms: u64,
}

/// Returns the number of requests and of friends with new films. Every page shows it: it reads the lists only of friends who have
/// added something since.
///
/// # Errors
/// SQLite's error.
pub fn count(db: &Connection, user: i64) -> Result<u32> {
    let sql = "SELECT (SELECT count(*) FROM friend_request WHERE reaches = ?1 AND NOT declined)
                 + (SELECT count(*) FROM friend JOIN user other ON other.number = friend.friend
                    JOIN user me ON me.number = ?1
                    WHERE friend.user = ?1 AND other.added_ms > me.seen_ms AND EXISTS
                      (SELECT 1 FROM entry WHERE entry.user = other.number AND entry.public AND entry.added_ms > me.seen_ms))";
    Ok(db
        .prepare_cached(sql)?
        .query_row([user], |row| row.get(0))?)
}

/// Returns the numbers of new films of each friend who has some, by the friends' numbers: those added later than this time, in
/// milliseconds since 1970, and not yet [seen](see).
///
/// # Errors
/// SQLite's error.
pub fn of_friends(db: &Connection, user: i64, since_ms: i64) -> Result<Vec<(i64, i64)>> {
    let sql = "SELECT entry.user, count(*) FROM user me
               JOIN friend ON friend.user = me.number
               JOIN user other ON other.number = friend.friend AND other.added_ms > max(me.seen_ms, ?2)
               JOIN entry ON entry.user = other.number AND entry.public AND entry.added_ms > max(me.seen_ms, ?2)
               WHERE me.number = ?1 GROUP BY entry.user";
    let mut statement = db.prepare_cached(sql)?;
    let counts = statement.query_map((user, since_ms), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(counts.collect::<rusqlite::Result<_>>()?)
}

/// Returns the time of the last film that friends have added, in milliseconds since 1970; 0 if there is none.
///
/// # Errors
/// SQLite's error.
pub fn last_ms(db: &Connection, user: i64) -> Result<i64> {
    let sql = "SELECT coalesce(max(other.added_ms), 0) FROM friend
               JOIN user other ON other.number = friend.friend WHERE friend.user = ?1";
    Ok(db
        .prepare_cached(sql)?
        .query_row([user], |row| row.get(0))?)
}

/// Returns whether friends have added films since the user [last saw](see) them, even if none of these is left.
///
/// # Errors
/// SQLite's error.
pub fn is_unseen(db: &Connection, user: i64) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM friend JOIN user other ON other.number = friend.friend
                 WHERE friend.user = ?1 AND other.added_ms > (SELECT seen_ms FROM user WHERE number = ?1))";
    Ok(db
        .prepare_cached(sql)?
        .query_row([user], |row| row.get(0))?)
}

/// Notes that a user has seen all that friends have added until now. The friends' times count, not the clock.
///
/// # Errors
/// SQLite's error.
pub fn see(db: &Connection, user: i64) -> Result<()> {
    let sql = "UPDATE user SET seen_ms = ?2 WHERE number = ?1";
    db.prepare_cached(sql)?
        .execute((user, last_ms(db, user)?))?;
    Ok(())
}

/// Returns the films that friends have added last, newest first.
///
/// # Errors
/// SQLite's error.
pub fn additions(db: &Connection, user: i64) -> Result<Vec<Addition>> {
    let sql = format!(
        "SELECT {}, other.name, entry.watched, entry.added_ms FROM friend
         JOIN user other ON other.number = friend.friend
         JOIN entry ON entry.user = friend.friend AND entry.public
         JOIN film ON film.number = entry.film
         WHERE friend.user = ?1 ORDER BY entry.added_ms DESC, entry.film DESC, other.number LIMIT {ADDITIONS_MAX}",
        Film::COLUMNS
    );
    let mut statement = db.prepare_cached(&sql)?;
    let additions = statement.query_map([user], |row| {
        let first = Film::COLUMN_COUNT;
        Ok(Addition {
            film: Film::of(row)?,
            friend: row.get(first)?,
            watched: row.get(first + 1)?,
            added_ms: row.get::<_, i64>(first + 2)?.unsigned_abs(),
        })
    })?;
    Ok(additions.collect::<rusqlite::Result<_>>()?)
}

/// Gives a user's feed a new secret address. An earlier one ends.
///
/// # Errors
/// SQLite's error.
pub fn open_feed(db: &Connection, user: i64, secret: Secret) -> Result<()> {
    let sql =
        "INSERT INTO feed VALUES (?1, ?2) ON CONFLICT(user) DO UPDATE SET hash = excluded.hash";
    db.prepare_cached(sql)?.execute((user, secret.hash()))?;
    Ok(())
}

/// Ends a user's feed.
///
/// # Errors
/// SQLite's error.
pub fn close_feed(db: &Connection, user: i64) -> Result<()> {
    db.prepare_cached("DELETE FROM feed WHERE user = ?1")?
        .execute([user])?;
    Ok(())
}

/// Returns whether a user has a feed.
///
/// # Errors
/// SQLite's error.
pub fn has_feed(db: &Connection, user: i64) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM feed WHERE user = ?1)";
    Ok(db
        .prepare_cached(sql)?
        .query_row([user], |row| row.get(0))?)
}

/// Returns the number of the user with this feed.
///
/// # Errors
/// SQLite's error.
pub fn feed_of(db: &Connection, secret: Secret) -> Result<Option<i64>> {
    let sql = "SELECT user FROM feed WHERE hash = ?1";
    let mut statement = db.prepare_cached(sql)?;
    Ok(statement
        .query_row([secret.hash()], |row| row.get(0))
        .optional()?)
}
