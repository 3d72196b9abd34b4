//! The files of a database, and connections to them.

use super::{
    confine::{self, Refused},
    failure::Failure,
    settings::{apply_to_connection, apply_to_file},
    vfs::CountingVfs,
};
use crate::{Error, Settings};
use rusqlite::{Connection, OpenFlags};
use std::{
    ffi::OsString,
    fs::File,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// Maximum wait for a lock on the control connection, and on every connection during its setup.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Name of the main file.
pub const FILE: &str = "inorder.db";

/// Data that all connections of a database share, and that live until the last one closes.
pub struct Home {
    /// The main file.
    pub path: PathBuf,
    /// Settings of every connection.
    pub settings: Settings,
    /// The counters.
    pub vfs: CountingVfs,
    /// A handle on the main file that stays open. Closing any handle of a process on a file drops all locks of the
    /// process on it, also SQLite's (fcntl(2)).
    pub file: File,
}

impl Home {
    /// Creates the empty main file.
    pub fn create(folder: &Path, settings: &Settings) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let file = File::create_new(&path).map_err(|source| match source.kind() {
            ErrorKind::AlreadyExists => Error::Exists { path: path.clone() },
            _ => Error::Io {
                path: path.clone(),
                source,
            },
        })?;
        Home::of(path, file, settings)
    }

    /// Opens the main file that another program wrote.
    pub fn open(folder: &Path, settings: &Settings) -> Result<Self, Error> {
        let path = folder.join(FILE);
        match File::open(&path) {
            Ok(file) => Home::of(path, file, settings),
            Err(source) => Err(Error::Io { path, source }),
        }
    }

    fn of(path: PathBuf, file: File, settings: &Settings) -> Result<Self, Error> {
        Ok(Home {
            path,
            settings: settings.clone(),
            vfs: CountingVfs::register()?,
            file,
        })
    }

    /// Returns the path of the write-ahead log, if the database uses one.
    pub fn wal(&self) -> PathBuf {
        self.beside("-wal")
    }

    /// Returns every file that may contain rows, whether it exists or not.
    pub fn files(&self) -> [PathBuf; 3] {
        [self.path.clone(), self.wal(), self.beside("-journal")]
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = OsString::from(&self.path);
        name.push(suffix);
        name.into()
    }
}

/// Purpose of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The first connection, which writes the settings into the empty file.
    Create,
    /// Inserts rows. The writer handles its locks and checkpoints.
    Write,
    /// Reads. The reader handles its locks.
    Read,
}

/// A connection. The fields are in the order of their drops.
pub struct Link {
    /// SQLite's connection.
    pub connection: Connection,
    /// The refused action, if the connection is confined.
    pub refused: Refused,
    /// The database of the connection, with its VFS.
    pub home: Arc<Home>,
}

impl Link {
    /// Connects, and applies the database's settings.
    pub fn open(home: &Arc<Home>, role: Role) -> Result<Self, Error> {
        let access = match role {
            Role::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Role::Create | Role::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
        };
        // A connection is used by one thread at a time, so it needs no mutex.
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = inorder_sqlite::open_with_vfs(&home.path, flags, home.vfs.name())
            .map_err(|error| Failure::from(error).into_error("opening the database", &home.path))?;
        let link = Link {
            connection,
            refused: Refused::default(),
            home: Arc::clone(home),
        };
        link.busy_timeout(BUSY_TIMEOUT)?;
        if role == Role::Create {
            apply_to_file(&link.connection, &home.settings)?;
            // As in SQLite: a CREATE INDEX must not leave its journal behind.
            let pages = home.settings.checkpoint_pages;
            apply_to_connection(&link.connection, &home.settings, pages)?;
        } else {
            apply_to_connection(&link.connection, &home.settings, 0)?;
            link.busy_timeout(Duration::ZERO)?;
            link.confine()?;
        }
        Ok(link)
    }

    /// Returns the crate's error for a failed operation of this connection.
    pub fn error(&self, doing: &str, failure: impl Into<Failure>) -> Error {
        match self.refused.take() {
            Some(message) => Error::Database {
                doing: doing.into(),
                message,
            },
            None => failure.into().into_error(doing, &self.home.path),
        }
    }

    /// Confines the statements prepared from now on, if the settings say so.
    pub fn confine(&self) -> Result<(), Error> {
        match self.home.settings.is_confined {
            true => confine::confine(&self.connection, &self.refused)
                .map_err(|error| self.error("confining the connection", error)),
            false => Ok(()),
        }
    }

    /// Ends the confinement.
    pub fn release(&self) -> Result<(), Error> {
        confine::release(&self.connection)
            .map_err(|error| self.error("ending the confinement", error))
    }

    fn busy_timeout(&self, timeout: Duration) -> Result<(), Error> {
        self.connection
            .busy_timeout(timeout)
            .map_err(|error| self.error("setting the busy timeout", error))
    }
}
