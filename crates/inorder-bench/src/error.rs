//! Errors between an experiment file and a report.

use std::path::PathBuf;

pub use inorder_engine::nearest;

/// An error of the workbench: what was wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The experiment file is wrong.
    #[error("{file}:{line}: {message}")]
    Experiment {
        /// The file, or the name of a built-in experiment.
        file: String,
        /// Line, from 1.
        line: usize,
        /// The fault and the correct form.
        message: String,
    },
    /// The command asks for something that isn't there.
    #[error("{0}")]
    Usage(String),
    /// A trial could not be run to its end.
    #[error("{0}")]
    Trial(String),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] inorder_engine::Error),
    /// A column can't be filled as its recipe asks.
    #[error("a column cannot be filled: {what}; {remedy}")]
    Fill {
        /// The fault.
        what: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// The data file can't be used.
    #[error(transparent)]
    Load(#[from] inorder_load::Error),
    /// The result file can't be used.
    #[error("{path}: {message}")]
    Results {
        /// The result file.
        path: PathBuf,
        /// The fault and the remedy.
        message: String,
    },
    /// A report can't be written.
    #[error("{0}")]
    Report(String),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

impl Error {
    /// Whether the command was wrong (exit code 2) rather than the work (exit code 1).
    pub fn is_usage(&self) -> bool {
        matches!(self, Error::Usage(_) | Error::Experiment { .. })
    }

    /// Whether the cause is the disk or a running server, not the experiment.
    pub fn is_of_the_place(&self) -> bool {
        use inorder_engine::Error as Engine;
        matches!(
            self,
            Error::Io { .. }
                | Error::Engine(Engine::DiskFull { .. } | Engine::Io { .. } | Engine::Url { .. })
        )
    }
}
