//! What can go wrong with an SQL function.

use rusqlite::ffi::SQLITE_ERROR;
use std::ffi::c_int;

/// What can go wrong in an SQL function; the message is SQLite's, after the name of the function.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An id or a time is wrong.
    #[error(transparent)]
    Key(#[from] inorder_key::Error),
    /// A value has a type that cannot be read.
    #[error("{wanted} is needed, not {found}")]
    Type {
        /// What was to be read.
        wanted: &'static str,
        /// The type that was given.
        found: &'static str,
    },
    /// A UUID that is not of version 7 holds no milliseconds.
    #[error("{0} is not of version 7: it does not begin with its time")]
    NoTime(inorder_key::Uuid),
    /// A token of no bytes, or of very many.
    #[error("a token has 1 to {max} bytes, not {found}")]
    Token {
        /// The most bytes a token has.
        max: usize,
        /// The bytes asked for.
        found: i64,
    },
    /// The high-water mark could not be raised.
    #[error(transparent)]
    Shared(rusqlite::Error),
    /// There is no table for the high-water mark.
    #[error(
        "no table {schema}.inorder_high_water; ids keep their order in a table of the database: {}",
        crate::shared::table(schema)
    )]
    NoMark {
        /// The name of the database in SQL.
        schema: String,
    },
    /// The high-water mark stands at its end.
    #[error(
        "no id is left: the mark in {schema}.inorder_high_water ends in the year 6429 with {}",
        i64::MAX
    )]
    MarkEnds {
        /// The name of the database in SQL.
        schema: String,
    },
    /// A fault of this library, or a system that gives no random bytes.
    #[error("it panicked; nothing was made")]
    Panic,
}

impl Error {
    /// The code with which SQLite reports it: that of the statement which failed, SQLITE_BUSY for example.
    pub(crate) fn code(&self) -> c_int {
        match self {
            Error::Shared(rusqlite::Error::SqliteFailure(source, _)) => source.extended_code,
            _ => SQLITE_ERROR,
        }
    }
}
