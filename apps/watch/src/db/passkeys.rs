//! Passkeys of users.

use super::user::User;
use crate::{Error, Result, date::now_ms, passkeys::Credential, text, words::say};
use inorder_key::Ulid;
use rusqlite::{Connection, OptionalExtension};

/// Characters of a name.
const NAME_CHARACTERS_MAX: usize = 60;

/// Passkeys per user.
const PASSKEYS_MAX: usize = 20;

/// The days after which a new password by a link ends the passkeys from before.
pub const ENDING_DAYS: i64 = 3;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The condition that a passkey has not ended, with the time as the second parameter.
const GOOD: &str = "NOT EXISTS (SELECT 1 FROM recovery WHERE recovery.user = passkey.user
                      AND recovery.at_ms <= ?2 AND passkey.id < ulid_min(recovery.at_ms))";

/// A passkey on its user's page.
#[derive(Clone, Debug)]
pub struct Passkey {
    /// Its id, which contains the time of creation.
    pub id: Ulid,
    /// The user's name of it.
    pub name: String,
    /// The authenticator's id of it.
    pub credential: Vec<u8>,
    /// The time of the last sign-in with it.
    pub used_ms: Option<i64>,
    /// When it ends, since a new password was chosen with a link.
    pub ends_ms: Option<i64>,
}

/// The last time of a new password that has ended the passkeys from before.
fn ended_ms() -> i64 {
    now_ms() - ENDING_DAYS * DAY_MS
}

/// Checks whether a user may add a passkey.
///
/// # Errors
/// [`Error::Invalid`] for too many.
pub fn check_room(db: &Connection, user: i64) -> Result<()> {
    match all(db, user)?.len() < PASSKEYS_MAX {
        true => Ok(()),
        false => Err(Error::Invalid(say::passkeys_max())),
    }
}

/// Adds a passkey.
///
/// # Errors
/// [`Error::Invalid`] for a wrong name, for too many, and for a credential that is there.
pub fn add(db: &Connection, user: i64, name: &str, credential: &Credential) -> Result<()> {
    let name = name.trim();
    if !text::has_visible(name) || name.chars().count() > NAME_CHARACTERS_MAX {
        return Err(Error::Invalid(say::passkey_name_wrong(NAME_CHARACTERS_MAX)));
    }
    check_room(db, user)?;
    let sql =
        "INSERT INTO passkey(user, credential, name, public_key, algorithm, counter, is_synced)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT(credential) DO NOTHING";
    let added = db.prepare_cached(sql)?.execute((
        user,
        &credential.id,
        name,
        &credential.public_key,
        credential.algorithm,
        credential.counter,
        credential.is_synced,
    ))?;
    match added {
        0 => Err(Error::Invalid(say::passkey_known())),
        _ => Ok(()),
    }
}

/// Returns a user's passkeys, oldest first.
///
/// # Errors
/// SQLite's error.
pub fn all(db: &Connection, user: i64) -> Result<Vec<Passkey>> {
    let sql = format!(
        "SELECT id, name, credential, used_ms,
           (SELECT at_ms FROM recovery WHERE recovery.user = passkey.user AND passkey.id < ulid_min(at_ms))
         FROM passkey WHERE user = ?1 AND {GOOD} ORDER BY id"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let passkeys = statement.query_map((user, ended_ms()), |row| {
        let recovered: Option<i64> = row.get(4)?;
        Ok(Passkey {
            id: Ulid::from_bytes(row.get(0)?),
            name: row.get(1)?,
            credential: row.get(2)?,
            used_ms: row.get(3)?,
            ends_ms: recovered.map(|ms| ms + ENDING_DAYS * DAY_MS),
        })
    })?;
    Ok(passkeys.collect::<rusqlite::Result<_>>()?)
}

/// Returns a credential and its user.
///
/// # Errors
/// SQLite's error.
pub fn find(db: &Connection, credential: &[u8]) -> Result<Option<(User, Credential)>> {
    let sql = format!(
        "SELECT {}, public_key, algorithm, counter, is_synced
         FROM passkey JOIN user ON user.number = passkey.user WHERE credential = ?1 AND {GOOD}",
        User::COLUMNS
    );
    let found = db
        .prepare_cached(&sql)?
        .query_row((credential, ended_ms()), |row| {
            let at = User::COLUMN_COUNT;
            let stored = Credential {
                id: credential.to_owned(),
                public_key: row.get(at)?,
                algorithm: row.get(at + 1)?,
                counter: row.get(at + 2)?,
                is_synced: row.get(at + 3)?,
            };
            Ok((User::of(row)?, stored))
        })
        .optional()?;
    Ok(found)
}

/// Records a sign-in, if the credential is still as it was found. Returns whether it is.
///
/// # Errors
/// SQLite's error.
pub fn used(db: &Connection, found: &Credential, counter: u32) -> Result<bool> {
    let sql =
        "UPDATE passkey SET counter = ?3, used_ms = ?4 WHERE credential = ?1 AND counter = ?2";
    let bound = (&found.id, found.counter, counter, now_ms());
    Ok(db.prepare_cached(sql)?.execute(bound)? > 0)
}

/// Removes one of a user's passkeys. One from before a new password stays until it ends, unless the user is there with a passkey: who
/// reads the mails of another does not remove their passkeys.
///
/// # Errors
/// [`Error::NotFound`], and [`Error::Invalid`] for one that waits for its end.
pub fn remove(db: &Connection, user: i64, id: Ulid, is_confirmed: bool) -> Result<()> {
    let ends = |passkey: &Passkey| passkey.id == id && passkey.ends_ms.is_some();
    if !is_confirmed && all(db, user)?.iter().any(ends) {
        return Err(Error::Invalid(say::passkey_ends_later()));
    }
    let sql = "DELETE FROM passkey WHERE user = ?1 AND id = ?2";
    match db.prepare_cached(sql)?.execute((user, id.to_bytes()))? {
        0 => Err(Error::NotFound("passkey")),
        _ => Ok(()),
    }
}

/// Has a user's passkeys end some days from now, since a new password was chosen with a link. Those whose days are over are removed.
///
/// # Errors
/// SQLite's error.
pub fn end_later(db: &Connection, user: i64) -> Result<()> {
    let sql = format!("DELETE FROM passkey WHERE user = ?1 AND NOT {GOOD}");
    db.prepare_cached(&sql)?.execute((user, ended_ms()))?;
    db.prepare_cached("INSERT OR REPLACE INTO recovery(user, at_ms) VALUES (?1, ?2)")?
        .execute((user, now_ms()))?;
    Ok(())
}

/// Has passkeys stay that were to end. Those whose days are over are removed.
///
/// # Errors
/// SQLite's error.
pub fn keep(db: &Connection, user: i64) -> Result<()> {
    let sql = format!("DELETE FROM passkey WHERE user = ?1 AND NOT {GOOD}");
    db.prepare_cached(&sql)?.execute((user, ended_ms()))?;
    db.prepare_cached("DELETE FROM recovery WHERE user = ?1")?
        .execute([user])?;
    Ok(())
}

/// Removes all of a user's passkeys.
///
/// # Errors
/// SQLite's error.
pub fn remove_all(db: &Connection, user: i64) -> Result<()> {
    db.prepare_cached("DELETE FROM recovery WHERE user = ?1")?
        .execute([user])?;
    db.prepare_cached("DELETE FROM passkey WHERE user = ?1")?
        .execute([user])?;
    Ok(())
}
