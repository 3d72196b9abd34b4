//! Sessions.

use super::user::User;
use crate::{Result, date::now_ms, secret::Secret};
use rusqlite::{Connection, OptionalExtension};

/// The lifetime of a session after its last use, in seconds.
pub const SECONDS_MAX: i64 = 60 * 24 * 60 * 60;

/// The interval in seconds at which uses are recorded, so that not every request writes.
const RENEWAL_SECONDS: i64 = 24 * 60 * 60;

/// The user of a session.
#[derive(Clone, Debug)]
pub struct SignedIn {
    /// The user.
    pub user: User,
    /// Whether the session must be [renewed](renew).
    pub wants_renewal: bool,
}

/// The time after a sign-in with a passkey in which it replaces the password, in milliseconds.
const CONFIRMED_MS: i64 = 10 * 60 * 1000;

/// Signs a user in with this secret for the cookie. Removes expired sessions.
///
/// # Errors
/// SQLite's error.
pub fn begin(db: &Connection, user: i64, secret: Secret, is_passkey: bool) -> Result<()> {
    let now = now_ms() / 1000;
    db.prepare_cached("DELETE FROM session WHERE user = ?1 AND expires <= ?2")?
        .execute((user, now))?;
    let passkey_ms = is_passkey.then(now_ms);
    let sql = "INSERT INTO session(hash, user, expires, passkey_ms) VALUES (?1, ?2, ?3, ?4)";
    db.prepare_cached(sql)?
        .execute((secret.hash(), user, now + SECONDS_MAX, passkey_ms))?;
    Ok(())
}

/// Returns whether the session with this hash was begun with a passkey in the last ten minutes.
///
/// # Errors
/// SQLite's error.
pub fn is_confirmed(db: &Connection, hash: [u8; 32]) -> Result<bool> {
    let now = now_ms();
    let sql =
        "SELECT EXISTS (SELECT 1 FROM session WHERE hash = ?1 AND passkey_ms BETWEEN ?2 AND ?3)";
    let mut statement = db.prepare_cached(sql)?;
    Ok(statement.query_row((hash, now - CONFIRMED_MS, now), |row| row.get(0))?)
}

/// Returns the user of the session with this secret.
///
/// # Errors
/// SQLite's error.
pub fn find(db: &Connection, secret: Secret) -> Result<Option<SignedIn>> {
    let now = now_ms() / 1000;
    let sql = format!(
        "SELECT {}, session.expires FROM session JOIN user ON user.number = session.user
         WHERE session.hash = ?1 AND session.expires > ?2 AND NOT user.is_suspended",
        User::COLUMNS
    );
    let mut statement = db.prepare_cached(&sql)?;
    let found = statement.query_row((secret.hash(), now), |row| {
        let expires: i64 = row.get(User::COLUMN_COUNT)?;
        Ok(SignedIn {
            user: User::of(row)?,
            // A session dated by a clock that was ahead would last too long.
            wants_renewal: !(now + SECONDS_MAX - RENEWAL_SECONDS..=now + SECONDS_MAX)
                .contains(&expires),
        })
    });
    Ok(found.optional()?)
}

/// Renews a session.
///
/// # Errors
/// SQLite's error.
pub fn renew(db: &Connection, secret: Secret) -> Result<()> {
    let expires = now_ms() / 1000 + SECONDS_MAX;
    db.prepare_cached("UPDATE session SET expires = ?2 WHERE hash = ?1")?
        .execute((secret.hash(), expires))?;
    Ok(())
}

/// Ends a session.
///
/// # Errors
/// SQLite's error.
pub fn end(db: &Connection, secret: Secret) -> Result<()> {
    db.prepare_cached("DELETE FROM session WHERE hash = ?1")?
        .execute([secret.hash()])?;
    Ok(())
}

/// Ends all sessions of a user except for the one with this hash.
///
/// # Errors
/// SQLite's error.
pub fn end_all(db: &Connection, user: i64, but: Option<[u8; 32]>) -> Result<()> {
    db.prepare_cached("DELETE FROM session WHERE user = ?1 AND hash IS NOT ?2")?
        .execute((user, but))?;
    Ok(())
}

/// Returns the number of a user's sessions.
///
/// # Errors
/// SQLite's error.
pub fn count(db: &Connection, user: i64) -> Result<i64> {
    let sql = "SELECT count(*) FROM session WHERE user = ?1 AND expires > ?2";
    let mut statement = db.prepare_cached(sql)?;
    Ok(statement.query_row((user, now_ms() / 1000), |row| row.get(0))?)
}
