//! Validation outside of the writing thread: the caller validates a proposal, and the writing thread writes it only if it is
//! still the same.

use super::ready::Ready;
use super::writer::{Change, Ground, Stop, Writer};
use crate::revision::{History, Revision};
use crate::store::attachment::Record;
use crate::store::row::{self, Body};
use crate::store::{Document, GetOptions, Mode, Outcome, Result, id};

/// An edit that was checked, with its attachments compressed.
#[derive(Debug)]
pub struct Draft {
    pub(crate) ready: Ready,
    /// The state of its validation.
    pub consent: Consent,
}

impl Draft {
    /// The document.
    pub fn id(&self) -> &str {
        &self.ready.id
    }

    /// Its revision and the way to it, as in [`Edit`](crate::store::Edit).
    pub fn history(&self) -> Option<&History> {
        self.ready.history.as_ref()
    }

    /// Bytes of its body.
    pub fn body_bytes(&self) -> usize {
        self.ready.body.len()
    }
}

/// The state of an edit's validation. Local and design documents need none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// The edit needs no validation.
    NotNeeded,
    /// Given by the design documents as of this sequence.
    Given {
        /// [`Database::design_seq`](crate::store::Database::design_seq).
        design_seq: u64,
        /// The validated revisions; empty if no function had to run.
        basis: Option<Basis>,
    },
    /// It was not given yet.
    Missing,
}

impl Consent {
    pub(super) fn needs_before(&self) -> bool {
        matches!(self, Consent::Given { basis: Some(_), .. })
    }
}

/// The revisions that a proposal was made from: from the same ones the same edit makes the same proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    parent: Option<Revision>,
    before: Option<Revision>,
    /// Whether the document exists and is not deleted.
    exists: bool,
}

/// The document that an edit would create.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The document as it would be written.
    pub new: Document,
    /// The stored document.
    pub old: Option<Document>,
    /// The winner with which a replicated edit would be in conflict, if it comes from no known revision.
    pub rival: Option<Document>,
    /// The parent of both.
    pub basis: Basis,
}

/// The progress of an edit.
#[derive(Debug)]
pub enum Progress {
    /// To its end.
    Done(Outcome),
    /// Its consent is missing or outdated: nothing was written.
    Stale(Draft),
}

impl Writer<'_> {
    /// Returns what an edit would make of a document, or none if it needs no validation or is refused anyway.
    pub fn propose(&self, draft: &Draft, mode: Mode) -> Result<Option<Proposal>> {
        let edit = &draft.ready;
        if needs_nobody(&edit.id) {
            return Ok(None);
        }
        match self.proposal(edit, mode) {
            Ok(proposal) => Ok(proposal),
            Err(Stop::Refused(_)) => Ok(None),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    fn proposal(&self, edit: &Ready, mode: Mode) -> std::result::Result<Option<Proposal>, Stop> {
        let ground = self.ground(edit, mode, true)?;
        if ground.is_known {
            return Ok(None);
        }
        let old = match (&ground.stored, &ground.before) {
            (Some(stored), Some(node)) => {
                stored.document(self.connection, node, &GetOptions::default())?
            }
            _ => None,
        };
        let rival = match &ground.stored {
            Some(stored) if mode == Mode::Replicated && old.is_none() && !stored.head.deleted => {
                let winner = stored.tree.get(&stored.head.revision);
                let read = |node| stored.document(self.connection, node, &GetOptions::default());
                winner.map(read).transpose()?.flatten()
            }
            _ => None,
        };
        let basis = basis(&ground);
        let change = self.change(edit, mode, ground)?;
        Ok(Some(Proposal {
            new: self.proposed(edit, &change)?,
            old,
            rival,
            basis,
        }))
    }

    /// The document as it would be written.
    fn proposed(&self, edit: &Ready, change: &Change) -> Result<Document> {
        let head = row::Head {
            seq: 0,
            id: edit.id.clone(),
            deleted: edit.deleted,
            revision: change.history.revision(),
        };
        let body = Body {
            atts: Record::write_all(&change.records),
            text: edit.body.clone(),
        };
        let mut document = row::document(head, body, &GetOptions::default())?;
        document.history = Some(change.history.clone());
        Ok(document)
    }

    /// Whether what a draft's consent was given to is still so.
    pub(super) fn has_consent(&self, draft: &Draft, ground: &Ground) -> bool {
        match &draft.consent {
            Consent::NotNeeded => true,
            _ if needs_nobody(draft.id()) => true,
            Consent::Missing => false,
            Consent::Given {
                design_seq,
                basis: agreed,
            } => {
                let is_same = agreed
                    .as_ref()
                    .is_none_or(|agreed| *agreed == basis(ground));
                *design_seq == self.design_seq && is_same
            }
        }
    }
}

/// Whether documents with this id are shown to no function, as in CouchDB: whoever may write design documents can always
/// replace a function that refuses everything.
fn needs_nobody(id: &str) -> bool {
    id.starts_with(id::LOCAL) || id.starts_with(id::DESIGN)
}

fn basis(ground: &Ground) -> Basis {
    Basis {
        parent: ground.parent.clone(),
        before: ground.before.as_ref().map(|node| node.revision.clone()),
        exists: ground.stored.as_ref().is_some_and(|it| !it.head.deleted),
    }
}
