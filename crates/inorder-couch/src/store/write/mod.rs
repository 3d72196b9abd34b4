//! One document after another, written within a job of the writing thread.

mod attachments;
mod put;
mod ready;

pub use ready::{Ready, ReadyAttachment, ReadyContent};

use self::attachments::NewAttachment;
use super::attachment::Record;
use super::bulk::{Mode, Refusal, Validate, Written};
use super::row::{self, Body, Stored};
use super::state::State;
use super::{Document, Error, GetOptions, Outcome, Result, id, local};
use crate::revision::{self, History, Merge, Node, Revision};
use rusqlite::Connection;

/// A revision that is to be written.
struct New {
    revision: Revision,
    body: Body,
    records: Vec<Record>,
}

/// What an edit makes of a document.
struct Change {
    /// The way to the new revision.
    history: History,
    attachments: Vec<NewAttachment>,
    /// The document as it is.
    stored: Option<Stored>,
    /// The revision before the new one, if its body is kept.
    before: Option<Node>,
}

/// Writes documents in one savepoint, and the numbers at its end.
pub struct Writer<'a> {
    connection: &'a Connection,
    pub state: State,
}

/// Stops an edit: refused alone, or with all of the job.
enum Stop {
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
        Ok(Writer {
            connection,
            state: State::read(connection)?,
        })
    }

    /// Writes the numbers; the sequence of the last change.
    pub fn finish(self) -> Result<u64> {
        self.state.write(self.connection)?;
        Ok(self.state.update_seq)
    }

    /// Writes one edit.
    pub fn edit(
        &mut self,
        edit: Ready,
        mode: Mode,
        validate: Option<&mut Validate>,
    ) -> Result<Outcome> {
        if edit.id.starts_with(id::LOCAL) {
            let (body, deleted) = (&edit.body, edit.deleted);
            return Ok(Ok(local::write(self.connection, &edit.id, body, deleted)?));
        }
        let written = match mode {
            Mode::New => self.new_edit(edit, validate),
            Mode::Replicated => self.replicated(edit, validate),
        };
        match written {
            Ok(written) => Ok(Ok(written)),
            Err(Stop::Refused(refusal)) => Ok(Err(refusal)),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    fn new_edit(
        &mut self,
        mut edit: Ready,
        validate: Option<&mut Validate>,
    ) -> std::result::Result<Written, Stop> {
        let stored = row::stored(self.connection, &edit.id)?;
        let given = edit.history.as_ref().map(History::revision);
        let parent = parent_of(stored.as_ref(), given.as_ref(), edit.deleted)?;
        // A document that was deleted and is made anew follows from its deletion, but has nothing of it.
        let before = given.and(parent.as_ref());
        let generation = parent.as_ref().map(|parent| parent.generation + 1);
        let generation = Some(generation.unwrap_or(1));
        let before = match (&stored, before) {
            (Some(stored), Some(before)) => stored.tree.get(before).cloned(),
            _ => None,
        };
        let attachments =
            self.attachments(&mut edit, stored.as_ref(), before.as_ref(), generation)?;
        let digests: Vec<_> = attachments.iter().map(NewAttachment::digest).collect();
        let revision = revision::next(edit.deleted, parent.as_ref(), &edit.term, &digests);
        let hashes = [Some(&revision), parent.as_ref()].into_iter().flatten();
        let hashes = hashes.map(|revision| revision.hash.clone()).collect();
        let history = History::new(revision.generation, hashes)
            .map_err(|error| Refusal::BadRequest(error.to_string()))?;
        let change = Change {
            history,
            attachments,
            stored,
            before,
        };
        self.write(edit, change, validate)
    }

    fn replicated(
        &mut self,
        mut edit: Ready,
        validate: Option<&mut Validate>,
    ) -> std::result::Result<Written, Stop> {
        let Some(history) = edit.history.clone() else {
            let missing = "a replicated edit has no revision".to_owned();
            return Err(Refusal::BadRequest(missing).into());
        };
        let stored = row::stored(self.connection, &edit.id)?;
        let known = stored
            .as_ref()
            .and_then(|it| it.tree.get(&history.revision()));
        if known.is_some() {
            return self.lengthen(edit.id, history, stored);
        }
        let before = match &stored {
            Some(stored) if validate.is_some() || edit.has_stubs() => stored.before(&history),
            _ => None,
        };
        let attachments = self.attachments(&mut edit, stored.as_ref(), before.as_ref(), None)?;
        let change = Change {
            history,
            attachments,
            stored,
            before,
        };
        self.write(edit, change, validate)
    }

    /// The revision is known: at most its history gets longer.
    fn lengthen(
        &mut self,
        id: String,
        history: History,
        stored: Option<Stored>,
    ) -> std::result::Result<Written, Stop> {
        let revision = history.revision();
        if let Some(stored) = stored {
            let mut tree = stored.tree.clone();
            tree.merge(&history, false, 0);
            tree.stem(self.state.revs_limit);
            if tree != stored.tree {
                self.put(&id, Some(stored), tree, None)?;
            }
        }
        Ok(Written { id, revision })
    }

    /// Validates and writes a revision that is not known.
    fn write(
        &mut self,
        edit: Ready,
        change: Change,
        validate: Option<&mut Validate>,
    ) -> std::result::Result<Written, Stop> {
        if let Some(validate) = validate {
            let proposed = self.proposed(&edit, &change)?;
            let before = match (&change.stored, &change.before) {
                (Some(stored), Some(node)) => {
                    stored.document(self.connection, node, &GetOptions::default())?
                }
                _ => None,
            };
            validate(&proposed, before.as_ref())?;
        }
        let stored = change.stored;
        let mut tree = stored
            .as_ref()
            .map(|it| it.tree.clone())
            .unwrap_or_default();
        if tree.merge(&change.history, edit.deleted, 0) == Merge::Known {
            // The same edit on the same revision, twice.
            return Err(Refusal::Conflict.into());
        }
        tree.stem(self.state.revs_limit);
        // Nothing refuses it any more: now its bytes are stored.
        let records = self.store_attachments(change.attachments)?;
        let revision = change.history.revision();
        let new = New {
            revision: revision.clone(),
            body: Body {
                atts: Record::write_all(&records),
                text: edit.body,
            },
            records,
        };
        self.put(&edit.id, stored, tree, Some(new))?;
        Ok(Written {
            id: edit.id,
            revision,
        })
    }

    /// The document as a validation function sees it.
    fn proposed(&self, edit: &Ready, change: &Change) -> Result<Document> {
        let records: Vec<Record> = change
            .attachments
            .iter()
            .map(|it| it.record.clone())
            .collect();
        let head = row::Head {
            seq: 0,
            id: edit.id.clone(),
            deleted: edit.deleted,
            revision: change.history.revision(),
        };
        let body = Body {
            atts: Record::write_all(&records),
            text: edit.body.clone(),
        };
        let mut document = row::document(self.connection, head, body, &GetOptions::default())?;
        document.history = Some(change.history.clone());
        Ok(document)
    }
}

/// The revision a new edit follows from.
fn parent_of(
    stored: Option<&Stored>,
    given: Option<&Revision>,
    deleted: bool,
) -> std::result::Result<Option<Revision>, Refusal> {
    match (stored, given) {
        (None, None) => Ok(None),
        // All leaves are deletions: the document can only begin anew.
        (Some(stored), None) if stored.head.deleted && !deleted => {
            Ok(Some(stored.head.revision.clone()))
        }
        (Some(stored), Some(given)) if !stored.head.deleted && stored.tree.is_leaf(given) => {
            Ok(Some(given.clone()))
        }
        _ => Err(Refusal::Conflict),
    }
}
