//! Writes one edit.

use super::proposal::{Draft, Progress};
use super::ready::Ready;
use super::writer::{Ground, New, Stop, Writer};
use crate::revision::Merge;
use crate::store::attachment::Record;
use crate::store::row::Body;
use crate::store::{Mode, Refusal, Result, Written, id, local};

impl Writer<'_> {
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

    /// The revision is known: at most its history gets longer.
    fn lengthen(&mut self, edit: Ready, ground: Ground) -> std::result::Result<Written, Stop> {
        let (Some(history), Some(stored)) = (edit.history, ground.stored) else {
            return Err(Refusal::Conflict.into());
        };
        let mut tree = stored.tree.clone();
        tree.merge(&history, false, 0);
        tree.stem(self.state.revs_limit);
        if tree != stored.tree {
            self.put(&edit.id, Some(stored), tree, Vec::new())?;
        }
        Ok(Written {
            id: edit.id,
            revision: history.revision(),
        })
    }

    /// Whether the partition of a document takes no larger documents.
    fn is_full(&mut self, id: &str) -> Result<bool> {
        match &mut self.partitions {
            Some(limit) => limit.is_full(self.connection, id, self.state.external_bytes),
            None => Ok(false),
        }
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
        let old_bytes = stored.as_ref().map_or(0, |it| it.external_bytes);
        let new_bytes = change
            .records
            .iter()
            .map(|record| record.length)
            .sum::<u64>()
            + edit.body.len() as u64;
        if mode == Mode::New && new_bytes > old_bytes && self.is_full(&edit.id)? {
            return Err(Refusal::PartitionFull(edit.id).into());
        }
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
        self.put(&edit.id, stored, tree, vec![new])?;
        Ok(Written {
            id: edit.id,
            revision,
        })
    }
}
