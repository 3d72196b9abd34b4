//! Users whose requests a user doesn't want.

use super::{
    friends,
    users::{self, User},
};
use crate::{Error, Result};
use rusqlite::Connection;

/// Blocks a friend, or the sender of a request. The friendship ends, and requests of the blocked user, open ones too,
/// reach nobody. The blocked user is not told.
///
/// # Errors
/// [`Error::NotFound`] if the user with this name is neither: an answer about others would reveal whether they exist.
pub fn block(db: &Connection, user: &User, name: &str) -> Result<()> {
    let other = users::by_name(db, name)?;
    let is_friend = friends::are_friends(db, user.number, other.number)?;
    if !is_friend && !friends::has_asked(db, other.number, user.number)? {
        return Err(Error::NotFound("person"));
    }
    if is_friend {
        friends::unfriend(db, user.number, name)?;
    }
    friends::take_back(db, user.number, &other.name)?;
    let sql = "UPDATE friend_request SET reaches = NULL WHERE user = ?1 AND reaches = ?2";
    db.prepare_cached(sql)?
        .execute((other.number, user.number))?;
    db.prepare_cached("INSERT OR IGNORE INTO block VALUES (?1, ?2)")?
        .execute((user.number, other.number))?;
    Ok(())
}

/// Unblocks a user. Requests that this user sent while blocked stay unseen.
///
/// # Errors
/// [`Error::NotFound`] if the user with this name is not blocked.
pub fn unblock(db: &Connection, user: &User, name: &str) -> Result<()> {
    let sql = "DELETE FROM block WHERE user = ?1 AND blocked = (SELECT number FROM user WHERE folded = ?2)";
    match db
        .prepare_cached(sql)?
        .execute((user.number, users::fold(name)))?
    {
        0 => Err(Error::NotFound("person")),
        _ => Ok(()),
    }
}

/// Returns the users that a user has blocked, by name.
///
/// # Errors
/// SQLite's error.
pub fn all(db: &Connection, user: i64) -> Result<Vec<User>> {
    let sql = format!(
        "SELECT {} FROM block JOIN user ON user.number = block.blocked WHERE block.user = ?1 ORDER BY folded",
        User::COLUMNS
    );
    let mut statement = db.prepare_cached(&sql)?;
    let blocked = statement.query_map([user], User::of)?;
    Ok(blocked.collect::<rusqlite::Result<_>>()?)
}
