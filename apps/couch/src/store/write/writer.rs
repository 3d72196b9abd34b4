//! The writer, and what it works with.

use crate::revision::{History, Node, Revision};
use crate::store::attachment::Record;
use crate::store::row::{Body, Stored};
use crate::store::state::State;
use crate::store::{Error, Refusal, Result, partition, row};
use rusqlite::Connection;
use std::cell::RefCell;
use std::rc::Rc;

/// A revision that is to be written.
pub struct New {
    pub revision: Revision,
    pub body: Body,
    pub records: Vec<Record>,
}

/// The state of the document before an edit.
pub struct Ground {
    /// The stored document.
    pub stored: Option<Rc<Stored>>,
    /// The revision a new edit follows from.
    pub parent: Option<Revision>,
    /// The revision before the new one, if its body is kept.
    pub before: Option<Node>,
    /// Whether a replicated revision is here already.
    pub is_known: bool,
}

/// The change of a document by an edit.
pub struct Change {
    /// The way to the new revision.
    pub history: History,
    pub records: Vec<Record>,
    pub ground: Ground,
}

/// Writes documents within one savepoint, and the numbers of the database at its end.
pub struct Writer<'a> {
    pub(super) connection: &'a Connection,
    pub state: State,
    /// The design documents that consents must have come from: as they were before this job.
    pub(super) design_seq: u64,
    /// Of a database with partitions.
    pub(super) partitions: Option<partition::Limit>,
    /// The document that was read last, unless it was written since: many edits of a document are next to each other.
    last: RefCell<Option<(String, Option<Rc<Stored>>)>>,
}

/// Stops an edit: refused alone, or with all of the job.
pub enum Stop {
    Refused(Refusal),
    Failed(Error),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Stop::Refused(refusal)
    }
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Stop::Failed(error.into())
    }
}

impl<'a> Writer<'a> {
    pub fn new(connection: &'a Connection) -> Result<Self> {
        let state = State::read(connection)?;
        Ok(Writer {
            connection,
            state,
            design_seq: state.design_seq,
            partitions: None,
            last: RefCell::default(),
        })
    }

    /// Reads a document's winner and its tree.
    pub(super) fn stored(&self, id: &str) -> Result<Option<Rc<Stored>>> {
        if let Some((_, stored)) = self.last.borrow().as_ref().filter(|last| last.0 == id) {
            return Ok(stored.clone());
        }
        let stored = row::stored(self.connection, id)?.map(Rc::new);
        *self.last.borrow_mut() = Some((id.to_owned(), stored.clone()));
        Ok(stored)
    }

    /// Forgets the document that was read last, because it is written.
    pub(super) fn forget_last(&self) {
        *self.last.borrow_mut() = None;
    }

    /// The same, with the limit of partitions.
    pub fn limited(
        connection: &'a Connection,
        partitions: Option<partition::Limit>,
    ) -> Result<Self> {
        Ok(Writer {
            partitions,
            ..Writer::new(connection)?
        })
    }

    /// Writes the numbers; the sequence of the last change.
    pub fn finish(self) -> Result<u64> {
        self.state.write(self.connection)?;
        Ok(self.state.update_seq)
    }
}
