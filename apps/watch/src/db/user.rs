//! A user.

use inorder_key::Ulid;
use rusqlite::Row;

/// A user.
#[derive(Clone, Debug)]
pub struct User {
    /// What rows of other tables call them; never shown.
    pub number: i64,
    /// What the outside calls them; holds the time of signing up.
    pub id: Ulid,
    /// As they wrote it.
    pub name: String,
    /// Whether the server is theirs.
    pub is_owner: bool,
}

impl User {
    /// The columns that [`User::of`] reads, of a table `user`.
    pub const COLUMNS: &str = "user.number, user.id, user.name, user.is_owner";

    /// The user of a row that begins with [`User::COLUMNS`].
    ///
    /// # Errors
    /// When the columns are others.
    pub fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(User {
            number: row.get(0)?,
            id: Ulid::from_bytes(row.get(1)?),
            name: row.get(2)?,
            is_owner: row.get(3)?,
        })
    }
}
