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
    /// A number is no time in milliseconds since 1970.
    #[error(
        "{0}; of seconds take the function with _s, of a date its text, such as '2024-01-31 12:30'"
    )]
    TimeNumber(inorder_key::Error),
    /// A text is no number of seconds.
    #[error(
        "{text:?} is no number of seconds since 1970, such as unixepoch() gives; take the function without _s"
    )]
    SecondsText {
        /// The text.
        text: String,
    },
    /// The high-water mark is far ahead of the clock.
    #[error(
        "the mark in {schema}.inorder_high_water is {seconds} s ahead of the clock, because a clock was wrong; \
         DELETE FROM {schema}.inorder_high_water sets it to the clock, and ids made so far can sort after new ones"
    )]
    MarkAhead {
        /// The name of the database in SQL.
        schema: String,
        /// Seconds by which it is ahead.
        seconds: u64,
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
    /// The clock is after the end of the high-water mark.
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
    /// The error of a number of milliseconds. It names the functions that take another unit.
    pub(crate) fn of_time(error: inorder_key::Error) -> Self {
        match error {
            inorder_key::Error::TimeNumber { .. } => Error::TimeNumber(error),
            _ => Error::Key(error),
        }
    }

    /// SQLite's result code for the error, such as the code of the failed statement (SQLITE_BUSY).
    pub(crate) fn code(&self) -> c_int {
        match self {
            Error::Shared(rusqlite::Error::SqliteFailure(source, _)) => source.extended_code,
            _ => SQLITE_ERROR,
        }
    }
}
