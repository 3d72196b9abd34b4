//! User accounts.

use super::{devices, look, sessions, tokens};
use crate::{
    Error, Result, text,
    words::{Language, say},
};
use rusqlite::{Connection, OptionalExtension, Row};

pub use super::user::User;

/// The minimum and maximum length of a name in characters.
const NAME_CHARACTERS: std::ops::RangeInclusive<usize> = 2..=30;

/// The form in which names are compared: names that differ only in case are equal.
pub fn fold(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Checks whether a new user may have this name.
///
/// # Errors
/// [`Error::Invalid`], with the allowed characters.
pub fn check_name(name: &str) -> Result<()> {
    let is_letter = |c: char| c.is_alphanumeric() && !text::is_filler(c);
    let is_fine = |c: char| is_letter(c) || matches!(c, '-' | '_' | '.');
    if !NAME_CHARACTERS.contains(&name.chars().count()) || !name.chars().all(is_fine) {
        return Err(Error::Invalid(say::name_wrong()));
    }
    // Names of dots only would change the path of the user's page, and combining marks alone are invisible.
    if name.chars().all(|c| c == '.') || !text::has_visible(name) {
        return Err(Error::Invalid(say::name_invisible()));
    }
    Ok(())
}

/// Checks that a new user would not be taken for another one: the name has letters of one alphabet, in their usual form, and no user has
/// a name that looks like it.
///
/// # Errors
/// [`Error::Invalid`].
pub fn check_look(db: &Connection, name: &str) -> Result<()> {
    if !look::is_plain(name) {
        return Err(Error::Invalid(say::name_mixed()));
    }
    let look = look::of(name);
    let mut statement = db.prepare_cached("SELECT name FROM user")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let other = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        if look::of(other) == look {
            return Err(Error::Invalid(say::name_taken()));
        }
    }
    Ok(())
}

/// Like [`add`], for a name that somebody chooses.
///
/// # Errors
/// Those of [`add`] and of [`check_look`].
pub fn sign_up(db: &Connection, name: &str, password_hash: Option<&str>) -> Result<User> {
    check_name(name.trim())?;
    check_look(db, name.trim())?;
    add(db, name, password_hash)
}

/// Adds a user; the first one owns the server.
///
/// # Errors
/// [`Error::Invalid`] if the name is invalid or taken.
pub fn add(db: &Connection, name: &str, password_hash: Option<&str>) -> Result<User> {
    let name = name.trim();
    check_name(name)?;
    let sql = format!(
        "INSERT INTO user(name, folded, password, is_owner)
         VALUES (?1, ?2, ?3, NOT EXISTS (SELECT 1 FROM user)) ON CONFLICT(folded) DO NOTHING RETURNING {}",
        "number, id, name, is_owner, language"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let user = statement.query_row((name, fold(name), password_hash), User::of);
    let taken = || Error::Invalid(say::name_taken());
    user.optional()?.ok_or_else(taken)
}

/// Returns the user with this name.
///
/// # Errors
/// [`Error::NotFound`].
pub fn by_name(db: &Connection, name: &str) -> Result<User> {
    let sql = format!("SELECT {} FROM user WHERE folded = ?1", User::COLUMNS);
    let user = db.prepare_cached(&sql)?.query_row([fold(name)], User::of);
    user.optional()?.ok_or(Error::NotFound("person"))
}

/// Returns the user with this number.
///
/// # Errors
/// [`Error::NotFound`] after the account was deleted.
pub fn by_number(db: &Connection, number: i64) -> Result<User> {
    let sql = format!("SELECT {} FROM user WHERE number = ?1", User::COLUMNS);
    let user = db.prepare_cached(&sql)?.query_row([number], User::of);
    user.optional()?.ok_or(Error::NotFound("person"))
}

/// Returns the user with this name and the hash of their password, for signing in.
///
/// # Errors
/// SQLite's error.
pub fn with_password(db: &Connection, name: &str) -> Result<Option<(User, Option<String>)>> {
    let sql = format!(
        "SELECT {}, password FROM user WHERE folded = ?1",
        User::COLUMNS
    );
    let read = |row: &Row<'_>| Ok((User::of(row)?, row.get(User::COLUMN_COUNT)?));
    let found = db.prepare_cached(&sql)?.query_row([fold(name)], read);
    Ok(found.optional()?)
}

/// Checks that a user who proved who they are is still there and may sign in.
///
/// # Errors
/// [`Error::Invalid`] if the user is suspended, or if a restore has removed the user or given the number to another one.
pub fn check_entry(db: &Connection, user: &User) -> Result<()> {
    let sql = "SELECT is_suspended FROM user WHERE number = ?1 AND id = ?2";
    let mut statement = db.prepare_cached(sql)?;
    let is_suspended = statement.query_row((user.number, user.id.to_bytes()), |row| row.get(0));
    match is_suspended.optional()? {
        Some(false) => Ok(()),
        Some(true) => Err(Error::Invalid(say::sign_in_suspended())),
        None => Err(Error::Invalid(say::sign_in_wrong())),
    }
}

/// Returns whether this is still the hash of a user's password.
///
/// # Errors
/// SQLite's error.
pub fn has_password(db: &Connection, user: i64, hash: Option<&str>) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM user WHERE number = ?1 AND password IS ?2)";
    Ok(db
        .prepare_cached(sql)?
        .query_row((user, hash), |row| row.get(0))?)
}

/// Stores a new password, or none, which disables signing in. Ends all other sessions, revokes all tokens and removes
/// all known browsers.
///
/// # Errors
/// SQLite's error.
pub fn set_password(
    db: &Connection,
    user: i64,
    password_hash: Option<&str>,
    but: Option<[u8; 32]>,
) -> Result<()> {
    db.prepare_cached("UPDATE user SET password = ?2 WHERE number = ?1")?
        .execute((user, password_hash))?;
    sign_out_everywhere(db, user, but)
}

/// Ends all sessions of a user except for the one with this hash, revokes all tokens and removes all known browsers.
///
/// # Errors
/// SQLite's error.
pub fn sign_out_everywhere(db: &Connection, user: i64, but: Option<[u8; 32]>) -> Result<()> {
    devices::forget_all(db, user)?;
    tokens::revoke_all(db, user)?;
    sessions::end_all(db, user, but)
}

/// Ends all sessions of a user except for the one with this hash, and revokes all tokens.
///
/// # Errors
/// SQLite's error.
pub fn sign_out_elsewhere(db: &Connection, user: i64, but: [u8; 32]) -> Result<()> {
    tokens::revoke_all(db, user)?;
    sessions::end_all(db, user, Some(but))
}

/// Stores the language that a user chose; `None` is that of the browser.
///
/// # Errors
/// SQLite's error.
pub fn set_language(db: &Connection, user: i64, language: Option<Language>) -> Result<()> {
    db.prepare_cached("UPDATE user SET language = ?2 WHERE number = ?1")?
        .execute((user, language))?;
    Ok(())
}

/// Returns whether there are no users.
///
/// # Errors
/// SQLite's error.
pub fn are_none(db: &Connection) -> Result<bool> {
    let sql = "SELECT NOT EXISTS (SELECT 1 FROM user)";
    Ok(db.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_plain() {
        for name in ["Jo", "Zoë", "a.b-c_d", "名前"] {
            check_name(name).unwrap();
        }
        for name in [
            "",
            "a",
            "a b",
            "..",
            "a/b",
            "<b>",
            "a\n",
            "\u{3164}\u{3164}",
            "a\u{200b}b",
            &"a".repeat(31),
        ] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
    }
}
