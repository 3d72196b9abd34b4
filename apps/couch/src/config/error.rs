//! Errors of the configuration.

use std::io;
use std::path::PathBuf;

/// Why a configuration was not read or not changed. The texts of the first three are CouchDB's.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The name of the section is empty, or has a bracket or a control character.
    #[error("Invalid configuration section")]
    Section,
    /// The key is empty, or the file could not tell it from a comment or a value.
    #[error("Invalid configuration key")]
    Key,
    /// The value has a control character, or the file would take a part of it for a comment.
    #[error("Invalid configuration value")]
    Value,
    /// The guard refused it.
    #[error("{0}")]
    Refused(String),
    /// The file can't be read.
    #[error("cannot read the configuration {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The file can't be written.
    #[error("cannot write the configuration {}: {error}; free some space, or make the folder writable", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
}
