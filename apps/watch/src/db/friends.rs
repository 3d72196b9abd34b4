//! Friends and friend requests.

use super::{
    tonight::PEOPLE_MAX,
    users::{self, User},
};
use crate::{Error, Result, words::say};
use inorder_key::Ulid;
use rusqlite::Connection;

/// The maximum number of open requests per user.
const REQUESTS_MAX: usize = 100;

/// A friend request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The other user's name; of a sent request, as the sender typed it.
    pub name: String,
    /// The request's id, which contains the time at which it was sent.
    pub id: Ulid,
}

/// Sends a friend request. If the other user has sent one too, the two become friends. The answer does not reveal
/// whether the user exists, nor does the list of sent requests: the request reaches the user who has the name now, and
/// no user who takes it later. The request of a [blocked](super::blocks::block) user reaches nobody. A repeated request that was declined is not sent again.
///
/// # Errors
/// [`Error::Invalid`] for the user's own name, for an invalid name, and for too many requests.
pub fn request(db: &Connection, user: &User, name: &str) -> Result<()> {
    let name = name.trim();
    users::check_name(name)?;
    let folded = users::fold(name);
    if folded == users::fold(&user.name) {
        return Err(Error::Invalid(say::own_name()));
    }
    let other = users::by_name(db, name).ok();
    if let Some(other) = &other {
        if are_friends(db, user.number, other.number)? {
            return Err(Error::Invalid(say::friend_already(&other.name)));
        }
        if has_blocked(db, user.number, other.number)? {
            return Err(Error::Invalid(say::friend_blocked(&other.name)));
        }
        // A request that this user declined is still valid: the other user wants it.
        if has_asked(db, other.number, user.number)? {
            return be_friends(db, user, other);
        }
    }
    let reaches = match &other {
        Some(other) if !has_blocked(db, other.number, user.number)? => Some(other.number),
        _ => None,
    };
    if sent(db, user.number)?.len() >= REQUESTS_MAX {
        return Err(Error::Invalid(say::requests_max()));
    }
    let sql = "INSERT INTO friend_request(user, folded, name, reaches) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT DO UPDATE SET name = excluded.name, id = excluded.id, reaches = excluded.reaches,
                 declined = declined AND reaches IS excluded.reaches";
    db.prepare_cached(sql)?
        .execute((user.number, folded, name, reaches))?;
    Ok(())
}

/// Returns whether a user has sent a request to another.
///
/// # Errors
/// SQLite's error.
pub fn has_asked(db: &Connection, user: i64, other: i64) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM friend_request WHERE user = ?1 AND reaches = ?2)";
    Ok(db
        .prepare_cached(sql)?
        .query_row((user, other), |row| row.get(0))?)
}

/// Returns the requests that a user has sent, by name.
///
/// # Errors
/// SQLite's error.
pub fn sent(db: &Connection, user: i64) -> Result<Vec<Request>> {
    let sql = "SELECT name, id FROM friend_request WHERE user = ?1 ORDER BY folded";
    requests(db, sql, [user])
}

/// Returns the requests that others have sent to a user, oldest first.
///
/// # Errors
/// SQLite's error.
pub fn received(db: &Connection, user: &User) -> Result<Vec<Request>> {
    let sql = "SELECT user.name, r.id FROM friend_request r JOIN user ON user.number = r.user
               WHERE r.reaches = ?1 AND NOT r.declined ORDER BY r.id";
    requests(db, sql, [user.number])
}

fn requests(db: &Connection, sql: &str, bound: impl rusqlite::Params) -> Result<Vec<Request>> {
    let mut statement = db.prepare_cached(sql)?;
    let requests = statement.query_map(bound, |row| {
        Ok(Request {
            name: row.get(0)?,
            id: Ulid::from_bytes(row.get(1)?),
        })
    })?;
    Ok(requests.collect::<rusqlite::Result<_>>()?)
}

/// Accepts the request of the user with this name.
///
/// # Errors
/// [`Error::NotFound`] if there is no such request.
pub fn accept(db: &Connection, user: &User, name: &str) -> Result<()> {
    let other = decline(db, user, name)?;
    be_friends(db, user, &other)
}

/// Accepts a friend request.
fn be_friends(db: &Connection, user: &User, other: &User) -> Result<()> {
    take_back(db, other.number, &user.name)?;
    take_back(db, user.number, &other.name)?;
    befriend(db, user.number, other.number)
}

/// Declines the request of a user and returns that user, who still sees it as open.
///
/// # Errors
/// [`Error::NotFound`] if there is no such request.
pub fn decline(db: &Connection, user: &User, name: &str) -> Result<User> {
    let no_request = |_| Error::NotFound("request");
    let other = users::by_name(db, name).map_err(no_request)?;
    let sql =
        "UPDATE friend_request SET declined = 1 WHERE user = ?1 AND reaches = ?2 AND NOT declined";
    match db
        .prepare_cached(sql)?
        .execute((other.number, user.number))?
    {
        0 => Err(Error::NotFound("request")),
        _ => Ok(other),
    }
}

/// Withdraws a user's request to this name, if there is one.
///
/// # Errors
/// SQLite's error.
pub fn take_back(db: &Connection, user: i64, name: &str) -> Result<()> {
    db.prepare_cached("DELETE FROM friend_request WHERE user = ?1 AND folded = ?2")?
        .execute((user, users::fold(name)))?;
    Ok(())
}

/// Makes two users friends.
///
/// # Errors
/// SQLite's error.
pub fn befriend(db: &Connection, one: i64, other: i64) -> Result<()> {
    db.prepare_cached("INSERT OR IGNORE INTO friend VALUES (?1, ?2), (?2, ?1)")?
        .execute((one, other))?;
    Ok(())
}

/// Ends a friendship.
///
/// # Errors
/// [`Error::NotFound`] if the user with this name is not a friend.
pub fn unfriend(db: &Connection, user: i64, name: &str) -> Result<()> {
    let friend = friend(db, user, name)?;
    let sql = "DELETE FROM friend WHERE (user, friend) IN (VALUES (?1, ?2), (?2, ?1))";
    db.prepare_cached(sql)?.execute((user, friend.number))?;
    Ok(())
}

/// Returns a user's friends, by name.
///
/// # Errors
/// SQLite's error.
pub fn all(db: &Connection, user: i64) -> Result<Vec<User>> {
    let sql = format!(
        "SELECT {} FROM friend JOIN user ON user.number = friend.friend WHERE friend.user = ?1 ORDER BY folded",
        User::COLUMNS
    );
    let mut statement = db.prepare_cached(&sql)?;
    let friends = statement.query_map([user], User::of)?;
    Ok(friends.collect::<rusqlite::Result<_>>()?)
}

/// Returns the friend with this name. A stranger and an unused name give the same error.
///
/// # Errors
/// [`Error::NotFound`] if the user with this name is not a friend.
pub fn friend(db: &Connection, user: i64, name: &str) -> Result<User> {
    let other = users::by_name(db, name)?;
    match are_friends(db, user, other.number)? {
        true => Ok(other),
        false => Err(Error::NotFound("person")),
    }
}

/// Returns the friends with these names, each once.
///
/// # Errors
/// [`Error::NotFound`] if one of them is not a friend, [`Error::Invalid`] if there are too many to choose together.
pub fn named(db: &Connection, user: i64, names: &[String]) -> Result<Vec<User>> {
    if names.len() >= PEOPLE_MAX {
        return Err(Error::Invalid(say::people_max(PEOPLE_MAX)));
    }
    let mut friends: Vec<User> = Vec::new();
    for name in names {
        let friend = friend(db, user, name)?;
        if !friends.iter().any(|other| other.number == friend.number) {
            friends.push(friend);
        }
    }
    Ok(friends)
}

/// Returns whether two users are friends.
///
/// # Errors
/// SQLite's error.
pub fn are_friends(db: &Connection, one: i64, other: i64) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM friend WHERE user = ?1 AND friend = ?2)";
    Ok(db
        .prepare_cached(sql)?
        .query_row((one, other), |row| row.get(0))?)
}

/// Returns whether a user has blocked another.
fn has_blocked(db: &Connection, user: i64, other: i64) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM block WHERE user = ?1 AND blocked = ?2)";
    Ok(db
        .prepare_cached(sql)?
        .query_row((user, other), |row| row.get(0))?)
}
