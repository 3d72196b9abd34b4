//! Links that work once: invitations, and those for a forgotten password. Their ids say when they end.

use super::{friends, users};
use crate::{Error, Result, date::now_ms, secret::Secret};
use inorder_key::{TimeId, Ulid};
use rusqlite::{Connection, OptionalExtension};

/// Days an invitation is good for.
pub const INVITATION_DAYS: i64 = 14;

/// Hours a reset link is good for.
pub const RESET_HOURS: i64 = 24;

/// Invitations a person may have open.
const INVITATIONS_MAX: usize = 50;

const HOUR_MS: i64 = 60 * 60 * 1000;

/// The least id of what was made no longer ago than this.
fn since(hours: i64) -> [u8; 16] {
    let ms = u64::try_from(now_ms() - hours * HOUR_MS).unwrap_or_default();
    Ulid::first_at(ms).unwrap_or(Ulid::NIL).to_bytes()
}

/// Makes an invitation.
///
/// # Errors
/// [`Error::Invalid`] for one too many.
pub fn invite(db: &Connection, user: i64, secret: Secret) -> Result<()> {
    db.prepare_cached("DELETE FROM invitation WHERE id < ?1")?
        .execute([since(INVITATION_DAYS * 24)])?;
    if invitations(db, user)?.len() >= INVITATIONS_MAX {
        return Err(Error::invalid(
            "You have too many invitations open: take one back.",
        ));
    }
    db.prepare_cached("INSERT INTO invitation(hash, user) VALUES (?1, ?2)")?
        .execute((secret.hash(), user))?;
    Ok(())
}

/// A user's open invitations, the oldest first.
///
/// # Errors
/// What SQLite says.
pub fn invitations(db: &Connection, user: i64) -> Result<Vec<Ulid>> {
    let sql = "SELECT id FROM invitation WHERE user = ?1 AND id >= ?2 ORDER BY id";
    let mut statement = db.prepare_cached(sql)?;
    let ids = statement.query_map((user, since(INVITATION_DAYS * 24)), |row| row.get(0))?;
    Ok(ids
        .map(|id| id.map(Ulid::from_bytes))
        .collect::<rusqlite::Result<_>>()?)
}

/// Takes back an invitation.
///
/// # Errors
/// [`Error::NotFound`].
pub fn uninvite(db: &Connection, user: i64, id: Ulid) -> Result<()> {
    let sql = "DELETE FROM invitation WHERE user = ?1 AND id = ?2";
    match db.prepare_cached(sql)?.execute((user, id.to_bytes()))? {
        0 => Err(Error::NotFound("invitation")),
        _ => Ok(()),
    }
}

/// Returns the user whose invitation this is.
///
/// # Errors
/// What SQLite says.
pub fn host(db: &Connection, secret: Secret) -> Result<Option<users::User>> {
    let sql = format!(
        "SELECT {} FROM invitation JOIN user ON user.number = invitation.user
         WHERE invitation.hash = ?1 AND invitation.id >= ?2",
        users::User::COLUMNS
    );
    let mut statement = db.prepare_cached(&sql)?;
    let host = statement.query_row(
        (secret.hash(), since(INVITATION_DAYS * 24)),
        users::User::of,
    );
    Ok(host.optional()?)
}

/// Uses an invitation up: guest and host are friends from now on.
///
/// # Errors
/// [`Error::NotFound`] when it was used, taken back, or is too old.
pub fn accept_invitation(db: &Connection, secret: Secret, guest: i64) -> Result<()> {
    let host = host(db, secret)?.ok_or(Error::NotFound("invitation"))?;
    db.prepare_cached("DELETE FROM invitation WHERE hash = ?1")?
        .execute([secret.hash()])?;
    friends::befriend(db, host.number, guest)
}

/// Makes the link that gives a user another password; one made before ends.
///
/// # Errors
/// What SQLite says.
pub fn allow_reset(db: &Connection, user: i64, secret: Secret) -> Result<()> {
    db.prepare_cached("INSERT OR REPLACE INTO reset(user, hash) VALUES (?1, ?2)")?
        .execute((user, secret.hash()))?;
    Ok(())
}

/// Returns the user whose password this link resets.
///
/// # Errors
/// [`Error::NotFound`] when it was used or is too old.
pub fn reset_user(db: &Connection, secret: Secret) -> Result<i64> {
    let sql = "SELECT user FROM reset WHERE hash = ?1 AND id >= ?2";
    let mut statement = db.prepare_cached(sql)?;
    let user = statement.query_row((secret.hash(), since(RESET_HOURS)), |row| row.get(0));
    user.optional()?.ok_or(Error::NotFound("link"))
}

/// Uses a link up: the user has this password, and is signed out everywhere.
///
/// # Errors
/// [`Error::NotFound`] when it was used or is too old.
pub fn reset_password(db: &Connection, secret: Secret, password_hash: &str) -> Result<i64> {
    let user = reset_user(db, secret)?;
    db.prepare_cached("DELETE FROM reset WHERE user = ?1")?
        .execute([user])?;
    users::set_password(db, user, Some(password_hash), None)?;
    Ok(user)
}

/// Takes a user's password away, and all that was opened with it, and makes the link that gives them another.
///
/// # Errors
/// What SQLite says.
pub fn reset(db: &Connection, user: i64, secret: Secret) -> Result<()> {
    users::set_password(db, user, None, None)?;
    allow_reset(db, user, secret)
}
