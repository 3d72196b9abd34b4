//! One document after another, written within a job of the writing thread.

mod attachments;
mod proposal;
mod put;
mod ready;

pub use proposal::{Basis, Consent, Draft, Progress, Proposal};
pub use ready::{Ready, ReadyAttachment, ReadyContent};

use super::attachment::Record;
use super::bulk::{Mode, Refusal, Written};
use super::row::{self, Body, Stored};
use super::state::State;
use super::{Error, Result, id, local};
use crate::revision::{self, History, Merge, Node, Revision};
use rusqlite::Connection;

/// A revision that is to be written.
struct New {
    revision: Revision,
    body: Body,
    records: Vec<Record>,
}

/// What an edit finds.
struct Ground {
    /// The document as it is.
    stored: Option<Stored>,
    /// The revision a new edit follows from.
    parent: Option<Revision>,
    /// The revision before the new one, if its body is kept.
    before: Option<Node>,
    /// Whether a replicated revision is here already.
    is_known: bool,
}

/// What an edit makes of a document.
struct Change {
    /// The way to the new revision.
    history: History,
    records: Vec<Record>,
    ground: Ground,
}

/// Writes documents in one savepoint, and the numbers at its end.
pub struct Writer<'a> {
    connection: &'a Connection,
    pub state: State,
    /// The design documents that consents must have come from: as they were before this job.
    design_seq: u64,
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
        let state = State::read(connection)?;
        Ok(Writer {
            connection,
            state,
            design_seq: state.design_seq,
        })
    }

    /// Writes the numbers; the sequence of the last change.
    pub fn finish(self) -> Result<u64> {
        self.state.write(self.connection)?;
        Ok(self.state.update_seq)
    }

    /// Writes one edit, or gives it back if what its consent was given to has changed.
    pub fn edit(&mut self, draft: Draft, mode: Mode) -> Result<Progress> {
        let edit = &draft.ready;
        if edit.id.starts_with(id::LOCAL) {
            let written = local::write(self.connection, &edit.id, &edit.body, edit.deleted)?;
            return Ok(Progress::Done(Ok(written)));
        }
        let written = match self.ground(edit, mode, draft.consent.needs_before()) {
            Ok(ground) if ground.is_known => self.lengthen(draft.ready, ground),
            Ok(ground) if !self.has_consent(&draft, &ground) => return Ok(Progress::Stale(draft)),
            Ok(ground) => self.write(draft.ready, mode, ground),
            Err(stop) => Err(stop),
        };
        match written {
            Ok(written) => Ok(Progress::Done(Ok(written))),
            Err(Stop::Refused(refusal)) => Ok(Progress::Done(Err(refusal))),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    /// Finds what an edit is made from.
    fn ground(
        &self,
        edit: &Ready,
        mode: Mode,
        needs_before: bool,
    ) -> std::result::Result<Ground, Stop> {
        let stored = row::stored(self.connection, &edit.id)?;
        if mode == Mode::New {
            let given = edit.history.as_ref().map(History::revision);
            let parent = parent_of(stored.as_ref(), given.as_ref(), edit.deleted)?;
            // A document that was deleted and is made anew follows from its deletion, but has nothing of it.
            let before = match (&stored, given.and(parent.as_ref())) {
                (Some(stored), Some(before)) => stored.tree.get(before).cloned(),
                _ => None,
            };
            return Ok(Ground {
                stored,
                parent,
                before,
                is_known: false,
            });
        }
        let Some(history) = &edit.history else {
            let missing = "a replicated edit has no revision".to_owned();
            return Err(Refusal::BadRequest(missing).into());
        };
        let known = stored
            .as_ref()
            .and_then(|it| it.tree.get(&history.revision()));
        let is_known = known.is_some();
        let before = match &stored {
            Some(stored) if !is_known && (needs_before || edit.has_stubs()) => {
                stored.before(history)
            }
            _ => None,
        };
        Ok(Ground {
            stored,
            parent: None,
            before,
            is_known,
        })
    }

    /// What an edit makes of what it finds.
    fn change(
        &self,
        edit: &Ready,
        mode: Mode,
        ground: Ground,
    ) -> std::result::Result<Change, Stop> {
        let Ground {
            stored,
            parent,
            before,
            ..
        } = &ground;
        let (stored, before) = (stored.as_ref(), before.as_ref());
        let replicated = edit.history.clone().filter(|_| mode == Mode::Replicated);
        if let Some(history) = replicated {
            let records = self.records(edit, stored, before, None)?;
            return Ok(Change {
                history,
                records,
                ground,
            });
        }
        let generation = parent.as_ref().map_or(1, |parent| parent.generation + 1);
        let records = self.records(edit, stored, before, Some(generation))?;
        let digests: Vec<_> = records.iter().map(attachments::digest).collect();
        let revision = revision::next(edit.deleted, parent.as_ref(), &edit.term, &digests);
        let hashes = [Some(&revision), parent.as_ref()].into_iter().flatten();
        let hashes = hashes.map(|revision| revision.hash.clone()).collect();
        let history = History::new(revision.generation, hashes)
            .map_err(|error| Refusal::BadRequest(error.to_string()))?;
        Ok(Change {
            history,
            records,
            ground,
        })
    }

    /// The revision is known: at most its history gets longer.
    fn lengthen(&mut self, edit: Ready, ground: Ground) -> std::result::Result<Written, Stop> {
        let (Some(history), Some(stored)) = (edit.history, ground.stored) else {
            return Err(Refusal::Conflict.into());
        };
        let mut tree = stored.tree.clone();
        tree.merge(&history, false, 0);
        tree.stem(self.state.revs_limit);
        if tree != stored.tree {
            self.put(&edit.id, Some(stored), tree, None)?;
        }
        Ok(Written {
            id: edit.id,
            revision: history.revision(),
        })
    }

    /// Writes a revision that is not known.
    fn write(
        &mut self,
        edit: Ready,
        mode: Mode,
        ground: Ground,
    ) -> std::result::Result<Written, Stop> {
        let change = self.change(&edit, mode, ground)?;
        let stored = change.ground.stored;
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
        let mut records = change.records;
        self.store_attachments(edit.attachments, &mut records)?;
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
