//! The settings of a store.

use std::sync::{PoisonError, RwLock};

/// When a write counts as done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Synchronous {
    /// It is on the disk: it survives a loss of power. SQLite's `synchronous=FULL`.
    #[default]
    Full,
    /// It is with the operating system: it survives the end of the process, but a loss of power may take the last
    /// writes back, and sequences that a client has seen are then given again. SQLite's `synchronous=NORMAL`.
    Relaxed,
}

/// Size limits. Larger input is refused, never truncated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a document's body without attachments.
    pub document_bytes_max: usize,
    /// Levels of arrays and objects in a document; above 126 selectors do not read it.
    pub depth_max: usize,
    /// Bytes of a document's id.
    pub id_bytes_max: usize,
    /// Bytes of one attachment, as received.
    pub attachment_bytes_max: u64,
    /// Attachments of one document.
    pub attachments_max: usize,
    /// Bytes of the documents and attachments of a partition, decoded.
    pub partition_bytes_max: u64,
}

impl Default for Limits {
    /// CouchDB's own where it has any: 8,000,000 bytes a document, 1 GiB an attachment, ids of any length.
    fn default() -> Self {
        Limits {
            document_bytes_max: 8_000_000,
            depth_max: 120,
            id_bytes_max: usize::MAX,
            attachment_bytes_max: 1 << 30,
            attachments_max: 1000,
            partition_bytes_max: 10 << 30,
        }
    }
}

/// The limits of the databases of a folder. They may change while databases are open.
#[derive(Debug)]
pub struct LiveLimits(RwLock<Limits>);

impl LiveLimits {
    /// Starts with these limits.
    pub fn new(limits: Limits) -> Self {
        LiveLimits(RwLock::new(limits))
    }

    /// Returns the limits as they are now.
    pub fn get(&self) -> Limits {
        *self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the limits, for what is written from now on.
    pub fn set(&self, limits: Limits) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = limits;
    }
}

/// Settings for opening databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// When a write counts as done.
    pub synchronous: Synchronous,
    /// The size limits at first.
    pub limits: Limits,
    /// Connections a database reads through at the same time; further readers wait for one.
    pub readers_max: usize,
    /// Idle databases that are kept open.
    pub idle_databases_max: usize,
    /// Bytes a database's file may grow to, the log beside it not counted: a write that needs more is refused like one that
    /// meets a full disk.
    pub file_bytes_max: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            synchronous: Synchronous::default(),
            limits: Limits::default(),
            readers_max: 4,
            idle_databases_max: 100,
            file_bytes_max: None,
        }
    }
}
