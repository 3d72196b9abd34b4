//! The documents that describe replications.

use crate::replicate::{DocRef, Replication};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

/// The state of a document that has no job yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowState {
    /// Its id is being computed.
    Initializing,
    /// Its id could not be computed.
    Error,
    /// It has a job.
    Scheduled,
}

/// A document that describes a replication.
#[derive(Debug, Clone)]
pub struct Row {
    /// The replication.
    pub replication: Arc<Replication>,
    /// The state.
    pub state: RowState,
    /// The id of the job.
    pub id: Option<String>,
    /// The last error or event.
    pub info: Option<String>,
    /// The number of consecutive errors.
    pub errors: u32,
    /// When the state changed.
    pub updated: SystemTime,
    /// When the document was found.
    pub started: SystemTime,
    /// The number of the latest attempt to make a job. The results of earlier attempts are ignored.
    pub attempt: u64,
}

/// The documents that describe replications, and their states.
#[derive(Debug, Default)]
pub struct Documents(Mutex<DocumentState>);

/// The state of the documents.
#[derive(Debug, Default)]
pub struct DocumentState {
    /// What each document describes.
    pub rows: BTreeMap<DocRef, Row>,
    last_attempt: u64,
}

/// What a version of a document means for its replication.
#[derive(Debug)]
pub enum Found {
    /// It describes this replication.
    Replication(Box<Replication>),
    /// Its filter function has changed, so its job has another id.
    Renamed,
    /// There is nothing to replicate: it is deleted, or describes no replication.
    Nothing,
}

impl Documents {
    /// Locks the state.
    pub fn lock(&self) -> MutexGuard<'_, DocumentState> {
        self.0.lock().expect("no panic while held")
    }

    /// A document.
    pub fn row(&self, document: &DocRef) -> Option<Row> {
        self.lock().rows.get(document).cloned()
    }

    /// The documents of a database.
    pub fn of_database(&self, database: &str) -> Vec<DocRef> {
        let state = self.lock();
        let documents = state.rows.keys();
        let wanted = documents.filter(|document| document.database == database);
        wanted.cloned().collect()
    }
}

impl DocumentState {
    /// Begins an attempt to make a job of a document. Returns its number, and the replication.
    pub fn attempt(&mut self, document: &DocRef) -> Option<(u64, Arc<Replication>)> {
        self.last_attempt += 1;
        let row = self.rows.get_mut(document)?;
        row.attempt = self.last_attempt;
        Some((row.attempt, Arc::clone(&row.replication)))
    }
}
