//! Errors of database engines.

use std::path::PathBuf;

/// Error of an engine: what failed, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A statement failed.
    #[error("{doing}: {message}")]
    Database {
        /// The failed operation, with its statement if there is one.
        doing: String,
        /// The engine's own message.
        message: String,
    },
    /// A row violates a constraint of its table.
    #[error("row {row} of table {table} violates a constraint: {message}")]
    Row {
        /// The table.
        table: String,
        /// Zero-based index of the row in the batch of [`crate::Writer::insert`].
        row: usize,
        /// The engine's message, which names the column or constraint.
        message: String,
    },
    /// The server refused rows of a load.
    #[error("the server refuses a row of table {table}: {message}")]
    Refused {
        /// The table.
        table: String,
        /// Zero-based index of the row, if it is known. It is an index in the batch for [`crate::Writer::insert`],
        /// and among all rows for [`crate::Writer::complete`].
        row: Option<usize>,
        /// The server's message, which names the column or the constraint.
        message: String,
        /// Whether another row with the same key is the reason.
        is_duplicate: bool,
    },
    /// The disk is full.
    #[error("the disk with {path} is full: free some space or choose another folder")]
    DiskFull {
        /// The database.
        path: PathBuf,
    },
    /// The transaction conflicted with another one and was rolled back.
    #[error("{doing}: rolled back because of a conflict with another transaction: {message}")]
    Conflict {
        /// The failed operation.
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
    /// The engine's program is not installed.
    #[error("{engine} isn't installed: {install}")]
    NotInstalled {
        /// The engine's name.
        engine: &'static str,
        /// The command that installs it on this machine.
        install: String,
    },
    /// A running server is not usable.
    #[error("{url}: {message}")]
    Url {
        /// The server's URL, without a password.
        url: String,
        /// The problem and what to do.
        message: String,
    },
    /// The engine does not support an operation.
    #[error("{engine} can't {what}")]
    Unsupported {
        /// The engine's name.
        engine: &'static str,
        /// The unsupported operation.
        what: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
}
