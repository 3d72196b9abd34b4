//! The error type.

use crate::words::{Arg, Message, say};
use inorder_serve::{BackupError, PoolClosed, QueueError};
use std::{io, path::PathBuf, sync::Arc};

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database said no.
    #[error("the database: {0}")]
    Sqlite(Arc<rusqlite::Error>),
    /// A write did not happen.
    #[error("the database: {0}")]
    Queue(QueueError),
    /// The pool of readers was closed.
    #[error(transparent)]
    Closed(#[from] PoolClosed),
    /// The copy could not be made.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// A file or a thread could not be had.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is a database of something else.
    #[error("{} is not a watch list: name another file with --db", .0.display())]
    Foreign(PathBuf),
    /// The file was written by a newer version of this program.
    #[error("{} has schema {found}, and this program knows up to {known}: use the newer program that wrote it", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: u32,
        /// The newest this program knows.
        known: u32,
    },
    /// There is no such thing, or it is nothing that this person may see. The text is a key of the message `no-such`.
    #[error("{}", say::no_such(Arg::key(*.0)))]
    NotFound(&'static str),
    /// Invalid input; the message says what to do.
    #[error("{0}")]
    Invalid(Message),
    /// The session or the token of a request ended while the request waited.
    #[error("{}", say::signed_out())]
    SignedOut,
    /// Too many tries.
    #[error("{}", say::too_many_tries(*.0))]
    TooMany(u64),
}

/// The result type of most functions of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Error::Sqlite(Arc::new(error))
    }
}

impl From<QueueError> for Error {
    fn from(error: QueueError) -> Self {
        match error {
            QueueError::Sqlite(error) => Error::Sqlite(error),
            other => Error::Queue(other),
        }
    }
}
