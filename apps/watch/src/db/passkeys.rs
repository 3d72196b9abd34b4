//! Passkeys of users.

use super::user::User;
use crate::{Error, Result, date::now_ms, passkeys::Credential, text, words::say};
use inorder_key::Ulid;
use rusqlite::{Connection, OptionalExtension};

/// Characters of a name.
const NAME_CHARACTERS_MAX: usize = 60;

/// Passkeys per user.
const PASSKEYS_MAX: usize = 20;

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
    let sql = "SELECT id, name, credential, used_ms FROM passkey WHERE user = ?1 ORDER BY id";
    let mut statement = db.prepare_cached(sql)?;
    let passkeys = statement.query_map([user], |row| {
        Ok(Passkey {
            id: Ulid::from_bytes(row.get(0)?),
            name: row.get(1)?,
            credential: row.get(2)?,
            used_ms: row.get(3)?,
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
         FROM passkey JOIN user ON user.number = passkey.user WHERE credential = ?1",
        User::COLUMNS
    );
    let found = db
        .prepare_cached(&sql)?
        .query_row([credential], |row| {
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

/// Removes one of a user's passkeys.
///
/// # Errors
/// [`Error::NotFound`].
pub fn remove(db: &Connection, user: i64, id: Ulid) -> Result<()> {
    let sql = "DELETE FROM passkey WHERE user = ?1 AND id = ?2";
    match db.prepare_cached(sql)?.execute((user, id.to_bytes()))? {
        0 => Err(Error::NotFound("passkey")),
        _ => Ok(()),
    }
}

/// Removes all of a user's passkeys.
///
/// # Errors
/// SQLite's error.
pub fn remove_all(db: &Connection, user: i64) -> Result<()> {
    db.prepare_cached("DELETE FROM passkey WHERE user = ?1")?
        .execute([user])?;
    Ok(())
}
