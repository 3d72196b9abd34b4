//! What the owner sees and decides of all users.

use super::{links, news, users, users::User};
use crate::{Error, Result, words::say};
use inorder_key::Ulid;
use rusqlite::{Connection, Row};

/// A user, and what their account holds.
#[derive(Clone, Debug)]
pub struct Account {
    /// The user.
    pub user: User,
    /// The number of films on their list.
    pub films: i64,
    /// The number of films that they added to the catalogue.
    pub added: i64,
    /// Whether they can't sign in.
    pub is_suspended: bool,
}

/// The space that the database takes, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Storage {
    /// The pages of the file.
    pub bytes: i64,
    /// Those that are free for new rows.
    pub free_bytes: i64,
}

fn columns() -> String {
    format!(
        "{}, user.is_suspended,
         (SELECT count(*) FROM entry WHERE entry.user = user.number),
         (SELECT count(*) FROM film WHERE film.added_by = user.number)",
        User::COLUMNS
    )
}

fn account(row: &Row<'_>) -> rusqlite::Result<Account> {
    Ok(Account {
        user: User::of(row)?,
        is_suspended: row.get(User::COLUMN_COUNT)?,
        films: row.get(User::COLUMN_COUNT + 1)?,
        added: row.get(User::COLUMN_COUNT + 2)?,
    })
}

/// Returns all users, by name.
///
/// # Errors
/// SQLite's error.
pub fn all(db: &Connection) -> Result<Vec<Account>> {
    let sql = format!("SELECT {} FROM user ORDER BY folded", columns());
    let mut statement = db.prepare_cached(&sql)?;
    let accounts = statement.query_map([], account)?;
    Ok(accounts.collect::<rusqlite::Result<_>>()?)
}

/// Returns the user with this id.
///
/// # Errors
/// [`Error::NotFound`].
pub fn by_id(db: &Connection, id: Ulid) -> Result<Account> {
    let sql = format!("SELECT {} FROM user WHERE id = ?1", columns());
    let mut statement = db.prepare_cached(&sql)?;
    let mut accounts = statement.query_map([id.to_bytes()], account)?;
    accounts
        .next()
        .transpose()?
        .ok_or(Error::NotFound("person"))
}

/// Suspends a user: ends their sessions, tokens, feed, invitations and reset link. Their list stays, and their password.
///
/// # Errors
/// [`Error::Invalid`] for the owner.
pub fn suspend(db: &Connection, user: &User) -> Result<()> {
    if user.is_owner {
        return Err(Error::Invalid(say::owner_not_suspended()));
    }
    users::sign_out_everywhere(db, user.number, None)?;
    news::close_feed(db, user.number)?;
    links::remove_all(db, user.number)?;
    set_suspended(db, user.number, true)
}

/// Ends a suspension.
///
/// # Errors
/// SQLite's error.
pub fn resume(db: &Connection, user: &User) -> Result<()> {
    set_suspended(db, user.number, false)
}

fn set_suspended(db: &Connection, user: i64, is_suspended: bool) -> Result<()> {
    db.prepare_cached("UPDATE user SET is_suspended = ?2 WHERE number = ?1")?
        .execute((user, is_suspended))?;
    Ok(())
}

/// Returns the space that the database takes.
///
/// # Errors
/// SQLite's error.
pub fn storage(db: &Connection) -> Result<Storage> {
    let sql = "SELECT page_count * page_size, freelist_count * page_size
               FROM pragma_page_count, pragma_page_size, pragma_freelist_count";
    let storage = |row: &Row<'_>| {
        Ok(Storage {
            bytes: row.get(0)?,
            free_bytes: row.get(1)?,
        })
    };
    Ok(db.prepare_cached(sql)?.query_row([], storage)?)
}
