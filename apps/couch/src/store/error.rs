//! Why a store could not do what was asked.

use inorder_serve::{BackupError, PoolClosed, QueueError};
use rustix::process::geteuid;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

/// The result of anything a store does.
pub type Result<T> = std::result::Result<T, Error>;

/// Why there is no document, attachment or revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// It was never there, or nothing of it is kept.
    Missing,
    /// It was deleted.
    Deleted,
}

/// Why a store could not do what was asked.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No database has that name.
    #[error("Database does not exist.")]
    DatabaseMissing,
    /// A database of that name is there already.
    #[error("The database could not be created, the file already exists.")]
    DatabaseExists,
    /// The name is none for a database.
    #[error(
        "Name: '{0}'. Only lowercase characters (a-z), digits (0-9), and any of the characters _, $, (, ), +, -, and / are allowed. Must begin with a letter."
    )]
    IllegalDatabaseName(String),
    /// A name that is too long for a file.
    #[error("At least one path segment of `{0}` is too long.")]
    DatabaseNameTooLong(String),
    /// The document, revision or attachment is not there.
    #[error("{}", match .0 { Missing::Missing => "missing", Missing::Deleted => "deleted" })]
    NotFound(Missing),
    /// The id is none for a document.
    #[error("{0}")]
    IllegalId(&'static str),
    /// The document is none: a member that begins with an underscore and means nothing, or has the wrong type.
    #[error("{0}")]
    InvalidDocument(String),
    /// The JSON is not right, or an argument is not.
    #[error("{0}")]
    BadRequest(String),
    /// The document is nested more than the [`Limits`](super::Limits) allow.
    #[error("{0}")]
    TooDeep(String),
    /// It is larger than the [`Limits`](super::Limits) allow.
    #[error("{0}")]
    TooLarge(String),
    /// An update of a local document, or of the database's own settings, was not made from the current revision.
    #[error("Document update conflict.")]
    Conflict,
    /// A stub names an attachment that the document does not have.
    #[error("Invalid attachment stub in {id} for {name}")]
    MissingStub {
        /// The document.
        id: String,
        /// The attachment.
        name: String,
    },
    /// A document is no JSON, and where it is not.
    #[error("invalid UTF-8 JSON: {0}")]
    Json(String),
    /// The query's selector, index or sort is not right; with CouchDB's name for the error.
    #[error(transparent)]
    Mango(#[from] crate::mango::Error),
    /// The disk is full, or a limit of the file's size is reached. What was acknowledged is kept.
    #[error("the disk is full; what was acknowledged is kept, free some space and try again")]
    Full,
    /// Too many writes wait.
    #[error("too many writes are waiting; try again")]
    Busy,
    /// The database was deleted or closed meanwhile.
    #[error("the database was closed meanwhile")]
    Closed,
    /// The folder cannot be used, and what to do.
    #[error("cannot use the folder {}: {problem}", path.display())]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// The fault and the remedy.
        problem: String,
    },
    /// Another process has the folder.
    #[error("{}: another process uses this folder; end it, or use another folder", .0.display())]
    InUse(PathBuf),
    /// The file is no database of this version, or damaged.
    #[error("{}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The fault.
        what: String,
    },
    /// The write failed within: a fault of the server.
    #[error("{0}")]
    Failed(String),
    /// SQLite refused.
    #[error("{0}")]
    Sqlite(Arc<rusqlite::Error>),
    /// The operating system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error message.
        error: Arc<std::io::Error>,
    },
}

impl Error {
    pub(crate) fn io(path: impl Into<PathBuf>, error: std::io::Error) -> Self {
        let path = path.into();
        if error.kind() == ErrorKind::StorageFull {
            return Error::Full;
        }
        Error::Io {
            path,
            error: Arc::new(error),
        }
    }
}

impl Error {
    /// The folder of databases cannot be created or written to.
    pub(crate) fn unusable(path: impl Into<PathBuf>, error: &std::io::Error) -> Self {
        let problem = match error.kind() {
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
                "the path names a file; name another folder".to_owned()
            }
            ErrorKind::PermissionDenied => format!(
                "user {} may not write there; change its owner or mode, or name another folder",
                geteuid().as_raw()
            ),
            ErrorKind::ReadOnlyFilesystem => {
                "the file system is read-only; mount it writable, or name another folder".to_owned()
            }
            ErrorKind::StorageFull => {
                "the disk is full; free some space, or name another folder".to_owned()
            }
            _ => format!("{error}; name another folder"),
        };
        let path = path.into();
        Error::Unusable { path, problem }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Error::from(Arc::new(error))
    }
}

impl From<Arc<rusqlite::Error>> for Error {
    fn from(error: Arc<rusqlite::Error>) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Error::Full,
            _ => Error::Sqlite(error),
        }
    }
}

impl From<QueueError> for Error {
    fn from(error: QueueError) -> Self {
        match error {
            QueueError::Sqlite(error) => error.into(),
            QueueError::TakenBack => Error::Full,
            QueueError::Full => Error::Busy,
            QueueError::Ended => Error::Closed,
            other => Error::Failed(other.to_string()),
        }
    }
}

impl From<PoolClosed> for Error {
    fn from(_: PoolClosed) -> Self {
        Error::Closed
    }
}

impl From<BackupError> for Error {
    fn from(error: BackupError) -> Self {
        match error {
            BackupError::Exists(path) => Error::io(path, ErrorKind::AlreadyExists.into()),
            BackupError::Io { path, error } => Error::io(path, error),
            BackupError::Sqlite(error) => error.into(),
            other => Error::Failed(other.to_string()),
        }
    }
}

impl From<crate::json::Error> for Error {
    fn from(error: crate::json::Error) -> Self {
        match error {
            crate::json::Error::TooDeep { .. } => Error::TooDeep(error.to_string()),
            crate::json::Error::Syntax { .. } => Error::Json(error.to_string()),
        }
    }
}

impl From<crate::revision::TermError> for Error {
    fn from(error: crate::revision::TermError) -> Self {
        match error {
            crate::revision::TermError::Json(error) => error.into(),
            other => Error::BadRequest(other.to_string()),
        }
    }
}

impl From<crate::revision::CorruptTree> for Error {
    fn from(error: crate::revision::CorruptTree) -> Self {
        let wrong = rusqlite::types::FromSqlError::Other(Box::new(error));
        rusqlite::Error::from(wrong).into()
    }
}

impl From<crate::revision::RevisionError> for Error {
    fn from(error: crate::revision::RevisionError) -> Self {
        Error::BadRequest(error.to_string())
    }
}
