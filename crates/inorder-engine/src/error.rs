//! What can go wrong in an engine.

use std::path::PathBuf;

/// An engine's error: what was wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A statement failed.
    #[error("{doing}: {message}")]
    Database {
        /// What was being done, with the statement where there is one.
        doing: String,
        /// The engine's own message.
        message: String,
    },
    /// A row breaks a constraint of its table.
    #[error("row {row} of table {table} breaks a constraint: {message}")]
    Row {
        /// The table.
        table: String,
        /// Zero-based index of the row in the batch handed to [`crate::Writer::insert`].
        row: usize,
        /// The engine's message, which names the column or constraint.
        message: String,
    },
    /// The server doesn't take rows of a load.
    #[error("a row of table {table} is refused: {message}")]
    Refused {
        /// The table.
        table: String,
        /// Zero-based index of the row, where it is known: from [`crate::Writer::insert`] in the batch that was handed to
        /// it, from [`crate::Writer::complete`] among all rows that were handed over.
        row: Option<usize>,
        /// The server's message, which names column or constraint.
        message: String,
        /// Whether the reason is another row with the same key.
        is_duplicate: bool,
    },
    /// The disk has no room left.
    #[error("no room left on the disk that holds {path}: free some space or choose another folder")]
    DiskFull {
        /// The database.
        path: PathBuf,
    },
    /// Another transaction was in the way; this one is rolled back.
    #[error("{doing}: another transaction was in the way, this one is rolled back: {message}")]
    Conflict {
        /// What was being done.
        doing: String,
        /// The engine's own message.
        message: String,
    },
    /// The database stayed locked after every retry.
    #[error("the database stayed locked by another writer after {retries} retries")]
    Busy {
        /// Retries made.
        retries: u64,
    },
    /// A file that must be new exists.
    #[error("{path} exists: choose another folder, or remove it first")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The engine's program isn't there.
    #[error("{engine} isn't installed: {install}")]
    NotInstalled {
        /// The engine's name.
        engine: &'static str,
        /// The command that installs it here.
        install: String,
    },
    /// A running server can't be used.
    #[error("{url}: {message}")]
    Url {
        /// The server's URL, without a password.
        url: String,
        /// What is wrong and what to do.
        message: String,
    },
    /// The engine can't do what was asked.
    #[error("{engine} can't {what}")]
    Unsupported {
        /// The engine's name.
        engine: &'static str,
        /// What was asked of it.
        what: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}
