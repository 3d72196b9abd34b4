//! Errors of the SQL functions.

use rusqlite::ffi::SQLITE_ERROR;
use std::ffi::c_int;

/// Error of an SQL function. SQLite shows the message after the name of the function.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An id or a time is invalid.
    #[error(transparent)]
    Key(#[from] inorder_key::Error),
    /// The type of a value cannot be read.
    #[error("{wanted} is needed, not {found}")]
    Type {
        /// Name of the expected value.
        wanted: &'static str,
        /// The actual type.
        found: &'static str,
    },
    /// A UUID of another version than 7 contains no milliseconds.
    #[error("{0} is not of version 7: it does not begin with its time")]
    NoTime(inorder_key::Uuid),
    /// The requested length of a token is 0 or exceeds the maximum.
    #[error("a token has 1 to {max} bytes, not {found}")]
    Token {
        /// The maximum length of a token in bytes.
        max: usize,
        /// The requested length in bytes.
        found: i64,
    },
    /// The high-water mark could not be raised.
    #[error(transparent)]
    Shared(rusqlite::Error),
    /// The table of the high-water mark is missing.
    #[error(
        "no table {schema}.inorder_high_water; ids keep their order in a table of the database: {}",
        crate::shared::table(schema)
    )]
    NoMark {
        /// The name of the database in SQL.
        schema: String,
    },
    /// The high-water mark has reached its end.
    #[error(
        "no id is left: the mark in {schema}.inorder_high_water ends in the year 6429 with {}",
        i64::MAX
    )]
    MarkEnds {
        /// The name of the database in SQL.
        schema: String,
    },
    /// An internal error, or the operating system returned no random bytes.
    #[error("it panicked; nothing was made")]
    Panic,
}

impl Error {
    /// SQLite's result code for the error, such as the code of the failed statement (SQLITE_BUSY).
    pub(crate) fn code(&self) -> c_int {
        match self {
            Error::Shared(rusqlite::Error::SqliteFailure(source, _)) => source.extended_code,
            _ => SQLITE_ERROR,
        }
    }
}
