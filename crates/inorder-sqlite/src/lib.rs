//! Ids inside SQLite: SQL functions that make, read, convert and tell apart ULIDs, UUIDs and tokens.
//!
//! ```
//! let db = rusqlite::Connection::open_in_memory()?;
//! inorder_sqlite::register(&db)?;
//! db.execute_batch(
//!     "CREATE TABLE note(id BLOB PRIMARY KEY DEFAULT (ulid()), text TEXT) WITHOUT ROWID;
//!      INSERT INTO note(text) VALUES ('first'), ('second');",
//! )?;
//! let first: String = db.query_row("SELECT text FROM note ORDER BY id", [], |row| row.get(0))?;
//! assert_eq!(first, "first");
//! # Ok::<(), rusqlite::Error>(())
//! ```
//!
//! [`queue`] is for applications: one thread that writes, and commits together what waits.
//!
//! [`FUNCTIONS`] lists what is registered; `docs/ids.md` explains it. All ids come from the one
//! [`Factory`](inorder_key::Factory) of the process: they are in order over all its connections and threads.
//!
//! Every function is innocuous, and every converter deterministic, so that defaults, generated columns and indexes on
//! expressions work with `PRAGMA trusted_schema=off`. NULL gives NULL; wrong input is an SQL error.

mod error;
mod ffi;
mod keys;
mod list;
pub mod queue;
mod read;
mod shared;

pub use error::Error;
pub use keys::{KINDS, Kind};
pub use list::{FUNCTIONS, Function};

use rusqlite::Connection;

/// The oldest SQLite that has all that is used here: 3.34.1, as `sqlite3_libversion_number` tells it.
pub const SQLITE_VERSION_MIN: i32 = 3_034_001;

/// Adds every function of [`FUNCTIONS`] and the table-valued function `keys` to a connection.
///
/// # Errors
/// Whatever SQLite says: that memory is short, or that a statement which uses a function of the same name is running.
pub fn register(connection: &Connection) -> rusqlite::Result<()> {
    for function in FUNCTIONS {
        ffi::register(connection, function)?;
    }
    keys::register(connection)
}
