//! A folder of databases.

use super::{Database, Result, Settings};
use std::path::Path;
use tokio::sync::broadcast;

/// What happened to a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It was created.
    Created,
    /// A document changed.
    Updated,
    /// It was deleted.
    Deleted,
}

/// What happened to which database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseEvent {
    /// Its name.
    pub name: String,
    /// What happened.
    pub event: Event,
}

/// A folder of databases, one file each. Cheap to clone; all clones are one.
#[derive(Clone, Debug)]
pub struct Databases {}

impl Databases {
    /// Opens a folder, and makes it if there is none. One process at a time has it.
    ///
    /// # Errors
    /// When it cannot be made, read, or is in use.
    pub fn open(folder: impl AsRef<Path>, settings: Settings) -> Result<Self> {
        todo!("{:?} {settings:?}", folder.as_ref())
    }

    /// Creates a database.
    ///
    /// # Errors
    /// When the name is none, or taken.
    pub fn create(&self, name: &str) -> Result<Database> {
        todo!("{name}")
    }

    /// The database of that name.
    ///
    /// # Errors
    /// When there is none, or its file is damaged.
    pub fn get(&self, name: &str) -> Result<Database> {
        todo!("{name}")
    }

    /// Deletes a database: its handles answer [`Error::Closed`](super::Error::Closed) from then on.
    ///
    /// # Errors
    /// When there is none.
    pub fn delete(&self, name: &str) -> Result<()> {
        todo!("{name}")
    }

    /// The names, in the order of their bytes.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>> {
        todo!()
    }

    /// Tells of databases created, deleted and updated; whoever is slow misses some and is told so.
    pub fn events(&self) -> broadcast::Receiver<DatabaseEvent> {
        todo!()
    }
}

/// Whether a database may have that name: CouchDB's rule, and its own `_users`, `_replicator` and `_global_changes`.
pub fn is_database_name(name: &str) -> bool {
    todo!("{name}")
}
