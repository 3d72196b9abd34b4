//! SQL functions of SQLite that make, read, convert and identify ULIDs, UUIDs and tokens.
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
//! [`FUNCTIONS`] lists the functions, and `docs/ids.md` describes them. One [`Factory`](inorder_key::Factory) per
//! process makes all ids, so they are in order over all connections and threads of the process.
//!
//! Every function is innocuous, and every conversion is deterministic. Defaults, generated columns and indexes on
//! expressions therefore work with `PRAGMA trusted_schema=off`. An argument of NULL returns NULL. Invalid input is an
//! SQL error.

mod error;
mod ffi;
mod function;
mod keys;
mod list;
mod open;
mod read;
mod shared;

pub use error::Error;
pub use function::Function;
pub use keys::{KINDS, Kind};
pub use list::FUNCTIONS;
pub use open::{open, open_in_memory, open_plain, open_with_vfs, register};

/// The oldest supported SQLite, 3.34.1, as `sqlite3_libversion_number` returns it.
pub const SQLITE_VERSION_MIN: i32 = 3_034_001;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
