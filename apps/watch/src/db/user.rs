//! A user.

use crate::words::Language;
use inorder_key::Ulid;
use rusqlite::Row;

/// A user.
#[derive(Clone, Debug)]
pub struct User {
    /// The rowid, used by other tables and never shown.
    pub number: i64,
    /// The public id, which contains the time of sign-up.
    pub id: Ulid,
    /// The name as the user typed it.
    pub name: String,
    /// Whether the user owns the server.
    pub is_owner: bool,
    /// The language that the user chose, unless it is that of the browser.
    pub language: Option<Language>,
}

impl User {
    /// The columns that [`User::of`] reads, of a table `user`.
    pub const COLUMNS: &str = "user.number, user.id, user.name, user.is_owner, user.language";

    /// The number of columns in [`User::COLUMNS`].
    pub const COLUMN_COUNT: usize = 5;

    /// Reads a user from a row that begins with [`User::COLUMNS`].
    ///
    /// # Errors
    /// If the columns differ.
    pub fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(User {
            number: row.get(0)?,
            id: Ulid::from_bytes(row.get(1)?),
            name: row.get(2)?,
            is_owner: row.get(3)?,
            language: row.get(4)?,
        })
    }
}
