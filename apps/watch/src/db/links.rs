//! Single-use links: invitations and password resets. Their ids contain the time of creation.

use super::{friends, passkeys, users};
use crate::{Error, Result, date::now_ms, secret::Secret, words::say};
use inorder_key::{TimeId, Ulid};
use rusqlite::{Connection, OptionalExtension};

/// The validity of an invitation in days.
pub const INVITATION_DAYS: i64 = 14;

/// The validity of a reset link in hours.
pub const RESET_HOURS: i64 = 24;

/// The maximum number of open invitations per user.
const INVITATIONS_MAX: usize = 50;

const HOUR_MS: i64 = 60 * 60 * 1000;

/// The smallest id of a link created within this time.
fn since(hours: i64) -> [u8; 16] {
    let ms = u64::try_from(now_ms() - hours * HOUR_MS).unwrap_or_default();
    Ulid::first_at(ms).unwrap_or(Ulid::NIL).to_bytes()
}

/// Creates an invitation.
///
/// # Errors
/// [`Error::Invalid`] for too many.
pub fn invite(db: &Connection, user: i64, secret: Secret) -> Result<()> {
    db.prepare_cached("DELETE FROM invitation WHERE id < ?1")?
        .execute([since(INVITATION_DAYS * 24)])?;
    if invitations(db, user)?.len() >= INVITATIONS_MAX {
        return Err(Error::Invalid(say::invitations_max()));
    }
    db.prepare_cached("INSERT INTO invitation(hash, user) VALUES (?1, ?2)")?
        .execute((secret.hash(), user))?;
    Ok(())
}

/// Returns a user's open invitations, oldest first.
///
/// # Errors
/// SQLite's error.
pub fn invitations(db: &Connection, user: i64) -> Result<Vec<Ulid>> {
    let sql = "SELECT id FROM invitation WHERE user = ?1 AND id >= ?2 ORDER BY id";
    let mut statement = db.prepare_cached(sql)?;
    let ids = statement.query_map((user, since(INVITATION_DAYS * 24)), |row| row.get(0))?;
    Ok(ids
        .map(|id| id.map(Ulid::from_bytes))
        .collect::<rusqlite::Result<_>>()?)
}

/// Revokes an invitation.
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

/// Returns the user who created an invitation.
///
/// # Errors
/// SQLite's error.
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

/// Redeems an invitation: guest and host become friends.
///
/// # Errors
/// [`Error::NotFound`] if it was used, revoked, or has expired.
pub fn accept_invitation(db: &Connection, secret: Secret, guest: i64) -> Result<()> {
    let host = host(db, secret)?.ok_or(Error::NotFound("invitation"))?;
    db.prepare_cached("DELETE FROM invitation WHERE hash = ?1")?
        .execute([secret.hash()])?;
    friends::befriend(db, host.number, guest)
}

/// Creates a password reset link. An earlier one becomes invalid.
///
/// # Errors
/// SQLite's error.
pub fn allow_reset(db: &Connection, user: i64, secret: Secret) -> Result<()> {
    db.prepare_cached("INSERT OR REPLACE INTO reset(user, hash) VALUES (?1, ?2)")?
        .execute((user, secret.hash()))?;
    Ok(())
}

/// Returns the user whose password this link resets.
///
/// # Errors
/// [`Error::NotFound`] if it was used or has expired.
pub fn reset_user(db: &Connection, secret: Secret) -> Result<i64> {
    let sql = "SELECT user FROM reset WHERE hash = ?1 AND id >= ?2";
    let mut statement = db.prepare_cached(sql)?;
    let user = statement.query_row((secret.hash(), since(RESET_HOURS)), |row| row.get(0));
    user.optional()?.ok_or(Error::NotFound("link"))
}

/// Redeems a reset link: sets the password and ends all sessions of the user. Their passkeys end [some days
/// later](passkeys::ENDING_DAYS).
///
/// # Errors
/// [`Error::NotFound`] if it was used or has expired.
pub fn reset_password(db: &Connection, secret: Secret, password_hash: &str) -> Result<i64> {
    let user = reset_user(db, secret)?;
    db.prepare_cached("DELETE FROM reset WHERE user = ?1")?
        .execute([user])?;
    users::set_password(db, user, Some(password_hash), None)?;
    passkeys::end_later(db, user)?;
    Ok(user)
}

/// Removes a user's invitations and reset link.
///
/// # Errors
/// SQLite's error.
pub fn remove_all(db: &Connection, user: i64) -> Result<()> {
    for table in ["invitation", "reset"] {
        db.prepare_cached(&format!("DELETE FROM {table} WHERE user = ?1"))?
            .execute([user])?;
    }
    Ok(())
}

/// Removes a user's password, passkeys, sessions and tokens, and creates a password reset link.
///
/// # Errors
/// SQLite's error.
pub fn reset(db: &Connection, user: i64, secret: Secret) -> Result<()> {
    users::set_password(db, user, None, None)?;
    passkeys::remove_all(db, user)?;
    allow_reset(db, user, secret)
}
