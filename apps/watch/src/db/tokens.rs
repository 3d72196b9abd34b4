//! API tokens.

use super::user::User;
use crate::{Error, Result, secret::Secret, text, words::say};
use inorder_key::Ulid;
use rusqlite::{Connection, OptionalExtension};

/// The maximum number of tokens per user.
const TOKENS_MAX: usize = 50;

/// The maximum length of a token's name in characters.
const NAME_CHARACTERS_MAX: usize = 60;

/// A token, without its secret.
#[derive(Clone, Debug)]
pub struct Token {
    /// The id, which contains the time of creation.
    pub id: Ulid,
    /// The name given by its owner.
    pub name: String,
}

/// Returns the name of a token on one line.
///
/// # Errors
/// [`Error::Invalid`] for an empty or long name.
pub fn checked_name(name: &str) -> Result<String> {
    let name = text::line(name);
    match text::has_visible(&name) && name.chars().count() <= NAME_CHARACTERS_MAX {
        true => Ok(name),
        false => Err(Error::Invalid(say::token_name_wrong(NAME_CHARACTERS_MAX))),
    }
}

/// Creates a token with this secret.
///
/// # Errors
/// [`Error::Invalid`] as for [`checked_name`], and for too many tokens.
pub fn add(db: &Connection, user: i64, name: &str, secret: Secret) -> Result<()> {
    let name = checked_name(name)?;
    if all(db, user)?.len() >= TOKENS_MAX {
        return Err(Error::Invalid(say::tokens_max()));
    }
    db.prepare_cached("INSERT INTO api_token(hash, user, name) VALUES (?1, ?2, ?3)")?
        .execute((secret.hash(), user, name))?;
    Ok(())
}

/// Returns a user's tokens, oldest first.
///
/// # Errors
/// SQLite's error.
pub fn all(db: &Connection, user: i64) -> Result<Vec<Token>> {
    let sql = "SELECT id, name FROM api_token WHERE user = ?1 ORDER BY id";
    let mut statement = db.prepare_cached(sql)?;
    let tokens = statement.query_map([user], |row| {
        Ok(Token {
            id: Ulid::from_bytes(row.get(0)?),
            name: row.get(1)?,
        })
    })?;
    Ok(tokens.collect::<rusqlite::Result<_>>()?)
}

/// Returns the user of a token.
///
/// # Errors
/// SQLite's error.
pub fn find(db: &Connection, secret: Secret) -> Result<Option<User>> {
    let sql = format!(
        "SELECT {} FROM api_token JOIN user ON user.number = api_token.user WHERE api_token.hash = ?1 AND NOT user.is_suspended",
        User::COLUMNS
    );
    let mut statement = db.prepare_cached(&sql)?;
    Ok(statement.query_row([secret.hash()], User::of).optional()?)
}

/// Revokes one of a user's tokens.
///
/// # Errors
/// [`Error::NotFound`].
pub fn revoke(db: &Connection, user: i64, id: Ulid) -> Result<()> {
    let sql = "DELETE FROM api_token WHERE user = ?1 AND id = ?2";
    match db.prepare_cached(sql)?.execute((user, id.to_bytes()))? {
        0 => Err(Error::NotFound("token")),
        _ => Ok(()),
    }
}

/// Revokes all of a user's tokens.
///
/// # Errors
/// SQLite's error.
pub fn revoke_all(db: &Connection, user: i64) -> Result<()> {
    db.prepare_cached("DELETE FROM api_token WHERE user = ?1")?
        .execute([user])?;
    Ok(())
}
