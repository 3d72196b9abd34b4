//! Applies an edit to the stored state of a document.

use super::attachments;
use super::ready::Ready;
use super::writer::{Change, Ground, Stop, Writer};
use crate::revision::{self, History, Revision};
use crate::store::row::Stored;
use crate::store::{Mode, Refusal};

impl Writer<'_> {
    /// Finds what an edit is made from.
    pub(super) fn ground(
        &self,
        edit: &Ready,
        mode: Mode,
        needs_before: bool,
    ) -> Result<Ground, Stop> {
        let stored = self.stored(&edit.id)?;
        if mode == Mode::New {
            let given = edit.history.as_ref().map(History::revision);
            let parent = parent_of(stored.as_deref(), given.as_ref(), edit.deleted)?;
            // A recreated document is a child of its deletion, but inherits nothing from it.
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

    /// Applies an edit to the stored state.
    pub(super) fn change(&self, edit: &Ready, mode: Mode, ground: Ground) -> Result<Change, Stop> {
        let Ground {
            stored,
            parent,
            before,
            ..
        } = &ground;
        let (stored, before) = (stored.as_deref(), before.as_ref());
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
}

/// The revision a new edit follows from.
fn parent_of(
    stored: Option<&Stored>,
    given: Option<&Revision>,
    deleted: bool,
) -> Result<Option<Revision>, Refusal> {
    match (stored, given) {
        (None, None) => Ok(None),
        // All leaves are deletions: the document can only be created again.
        (Some(stored), None) if stored.head.deleted && !deleted => {
            Ok(Some(stored.head.revision.clone()))
        }
        (Some(stored), Some(given)) if !stored.head.deleted && stored.tree.is_leaf(given) => {
            Ok(Some(given.clone()))
        }
        _ => Err(Refusal::Conflict),
    }
}
