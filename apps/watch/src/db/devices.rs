//! Known browsers: browsers in which a user has signed in, identified by a cookie that outlasts the session.
//!
//! Failed sign-ins from a known browser are counted separately, so that an attacker cannot lock out the user.

use crate::{Result, date::now_ms, secret::Secret};
use rusqlite::Connection;

/// Seconds for which a browser is known after a sign-in. Browsers keep no cookie for longer than 400 days.
pub const SECONDS_MAX: i64 = 400 * 24 * 60 * 60;

/// The maximum number of known browsers per user: those used last.
const DEVICES_MAX: i64 = 50;

/// Records the browser in which a user has just signed in. Each sign-in replaces the cookie's secret, also for other
/// users of the browser. A planted or stolen cookie becomes invalid.
///
/// # Errors
/// SQLite's error.
pub fn remember(db: &Connection, user: i64, old: Option<Secret>, new: Secret) -> Result<()> {
    let now = now_ms() / 1000;
    if let Some(old) = old {
        db.prepare_cached("UPDATE device SET hash = ?2 WHERE hash = ?1")?
            .execute((old.hash(), new.hash()))?;
    }
    let sql = "INSERT INTO device VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET expires = excluded.expires";
    db.prepare_cached(sql)?
        .execute((new.hash(), user, now + SECONDS_MAX))?;
    let sql = "DELETE FROM device WHERE user = ?1 AND (expires <= ?2 OR hash IN
                 (SELECT hash FROM device WHERE user = ?1 ORDER BY expires DESC, hash = ?3 DESC LIMIT -1 OFFSET ?4))";
    db.prepare_cached(sql)?
        .execute((user, now, new.hash(), DEVICES_MAX))?;
    Ok(())
}

/// Whether this user has signed in in the browser with this secret.
///
/// # Errors
/// SQLite's error.
pub fn is_known(db: &Connection, user: i64, secret: Secret) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM device WHERE hash = ?1 AND user = ?2 AND expires > ?3)";
    let bound = (secret.hash(), user, now_ms() / 1000);
    Ok(db.prepare_cached(sql)?.query_row(bound, |row| row.get(0))?)
}

/// Removes all known browsers of a user.
///
/// # Errors
/// SQLite's error.
pub fn forget_all(db: &Connection, user: i64) -> Result<()> {
    db.prepare_cached("DELETE FROM device WHERE user = ?1")?
        .execute([user])?;
    Ok(())
}

/// The number of known browsers of a user.
///
/// # Errors
/// SQLite's error.
pub fn count(db: &Connection, user: i64) -> Result<i64> {
    let sql = "SELECT count(*) FROM device WHERE user = ?1 AND expires > ?2";
    let mut statement = db.prepare_cached(sql)?;
    Ok(statement.query_row((user, now_ms() / 1000), |row| row.get(0))?)
}
