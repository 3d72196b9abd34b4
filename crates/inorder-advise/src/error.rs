//! What can go wrong between a database and its advice.

use std::{io, path::PathBuf};

/// Errors of this crate. Each message says what was wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// SQLite refused a statement.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The file is no SQLite database.
    #[error("{path} is not an SQLite database: {found}")]
    NotADatabase {
        /// The file.
        path: PathBuf,
        /// What it looks like, and what to do.
        found: String,
    },
    /// The file has a format that this SQLite doesn't know.
    #[error(
        "{path}: {found}; SQLite {} reads up to {known}. Use a newer inorder",
        rusqlite::version()
    )]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// The format, such as `schema format 5`.
        found: String,
        /// The newest format that is known.
        known: u32,
    },
    /// What is to be written doesn't fit on the disk.
    #[error(
        "{what} need {needed_mb} MB in {folder} and {free_mb} MB are free: {remedy}",
        needed_mb = needed_bytes.div_ceil(1_000_000),
        free_mb = free_bytes / 1_000_000
    )]
    NoSpace {
        /// What is to be written, in the plural.
        what: &'static str,
        /// Bytes that it may take.
        needed_bytes: u64,
        /// Bytes that are free.
        free_bytes: u64,
        /// Where it would be.
        folder: PathBuf,
        /// What to do.
        remedy: &'static str,
    },
    /// A change can't be made, or its safety can't be proven.
    #[error("{change}: {why}")]
    Refused {
        /// The change.
        change: String,
        /// The reason.
        why: String,
    },
    /// No script can make a change, or the shell can't run it; a rekey can make it.
    #[error("{change}: {why}; use `inorder rekey`")]
    NotByScript {
        /// The change.
        change: String,
        /// The reason.
        why: String,
    },
    /// A file can't be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file can't be built.
    #[error("{path}: {why}")]
    Build {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// Other processes use a database.
    #[error("{path}: {why}; nothing was changed. Run it again when nobody writes")]
    Busy {
        /// The database.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// A server could not be read.
    #[error(transparent)]
    Server(#[from] inorder_engine::Error),
    /// A server is older than the oldest one whose catalog is known.
    #[error("the server is {version}, and {oldest} is the oldest that can be read")]
    OldServer {
        /// Product and version.
        version: String,
        /// The oldest one.
        oldest: String,
    },
    /// A product that speaks a known protocol and has another catalog.
    #[error("{product} isn't advised on: its storage and catalog are not those of {of}")]
    OtherProduct {
        /// The product.
        product: &'static str,
        /// The product whose protocol it speaks.
        of: &'static str,
    },
    /// A server's catalog has an unexpected form.
    #[error("the server's catalog has an unexpected form: {why}: {found}")]
    Catalog {
        /// The beginning of what was read.
        found: String,
        /// What is wrong with it.
        why: String,
    },
    /// Sizes after a change can't be predicted here.
    #[error("no sizes are predicted: {0}")]
    Prediction(String),
    /// A file is no report in JSON with counters.
    #[error("it is no report in JSON (--format json) that names counters: {why}")]
    NotAReport {
        /// What is wrong with it.
        why: String,
    },
    /// The file with the classes of columns says something unknown.
    #[error("{path}:{line}: {message}")]
    Settled {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// The fault, and the nearest right form.
        message: String,
    },
    /// Stop was asked for.
    #[error("stopped; nothing was changed")]
    Stopped,
}

impl Error {
    /// Makes the error of a call on a file.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |source| Error::File { path, source }
    }
}
