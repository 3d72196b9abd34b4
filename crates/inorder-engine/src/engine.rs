//! The trait that an engine implements.

use crate::{Database, Error, KernelCheck, Settings, TableShape};
use inorder_key::{Encoding, KeyKind};
use std::path::{Path, PathBuf};

/// Returns an error for settings that an engine does not support.
pub(crate) fn check(engine: &dyn Engine, settings: &Settings) -> Result<(), Error> {
    engine.accepts(settings).map_err(|what| Error::Unsupported {
        engine: engine.name(),
        what,
    })
}

/// Exact version of the engine that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineInfo {
    /// The engine's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Compile options, or the build string.
    pub compile_options: Vec<String>,
}

/// An installed version of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its version.
    pub version: String,
    /// Path of its program, or `None` for an embedded engine.
    pub path: Option<PathBuf>,
}

/// A database engine.
pub trait Engine: Sync {
    /// The name used in experiment files and on the command line.
    fn name(&self) -> &'static str;

    /// Returns the installed versions, the newest first. The first one is used.
    ///
    /// # Errors
    /// [`Error::NotInstalled`], with the command that installs it.
    fn found(&self) -> Result<Vec<Found>, Error>;

    /// Checks the settings, and returns which one is not supported and why.
    ///
    /// # Errors
    /// The unsupported setting, for messages.
    fn accepts(&self, _settings: &Settings) -> Result<(), String> {
        Ok(())
    }

    /// Returns the names of the fields of [`Settings`] that have no meaning for the engine. Reports show `n/a` for
    /// them.
    fn ignores(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the kernel counter to compare with the engine's own count of written bytes.
    fn kernel_check(&self) -> KernelCheck;

    /// Returns version and build.
    ///
    /// # Errors
    /// If the engine is not installed or does not answer.
    fn info(&self) -> Result<EngineInfo, Error>;

    /// Returns the column type that stores this kind of key in this encoding, or `None` if the engine has none
    /// (SQLite has no native UUID type).
    fn key_type(&self, kind: KeyKind, encoding: Encoding) -> Option<&'static str>;

    /// Returns why there is no [`Engine::key_type`], where that is not plain.
    fn why_no_key_type(&self, _kind: KeyKind, _encoding: Encoding) -> Option<&'static str> {
        None
    }

    /// Returns the encoding in which applications of this engine store a kind of key, unless they choose another: a type of
    /// its own (`uuid` of PostgreSQL, `UUID` of MariaDB from 10.7 on), where the engine has one for all keys of the kind.
    fn encoding(&self, kind: KeyKind) -> Encoding {
        match self.key_type(kind, Encoding::Native) {
            Some(_) => Encoding::Native,
            None => kind.encodings()[0],
        }
    }

    /// Returns the column type, with its default, of a key that the engine generates, or why there is none. The
    /// [`Engine::key_type`] of a serial key is such a type.
    ///
    /// # Errors
    /// The missing requirement, such as a newer version, for messages.
    fn key_made(&self, kind: KeyKind, _encoding: Encoding) -> Result<&'static str, String> {
        Err(format!("{} generates no {}", self.name(), kind.name()))
    }

    /// Returns the column type of bytes of any length.
    fn blob_type(&self) -> &'static str {
        "BLOB"
    }

    /// Returns the column type of text of any length.
    fn text_type(&self) -> &'static str {
        "TEXT"
    }

    /// Returns the statements that create the built-in table in one of [`crate::LAYOUTS`].
    ///
    /// # Errors
    /// The reason why this engine cannot store such a table, for messages.
    fn create_table(&self, shape: &TableShape<'_>) -> Result<String, String>;

    /// Creates an empty database with these settings in `folder`, which must exist and contain no database. Files
    /// that later databases can share are stored in the folder [`crate::TEMPLATES`] beside it, if that exists.
    ///
    /// # Errors
    /// If a database exists already, the folder is not writable, or a setting is not supported.
    fn create(&self, folder: &Path, settings: &Settings) -> Result<Box<dyn Database>, Error>;
}
