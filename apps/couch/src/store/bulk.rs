//! Bulk writes.

use super::encoder::Encoder;
use super::shared::Shared;
use super::state::State;
use super::write::{
    Consent, Draft, Progress, Proposal, Ready, ReadyAttachment, ReadyContent, Writer,
};
use super::{
    Edit, Encoding, Error, Limits, Mode, NewAttachment, NewContent, Outcome, Pending, Refusal, id,
};
use rusqlite::Connection;
use std::collections::HashSet;

impl Shared {
    /// Checks an edit and compresses its attachments, on the caller's thread and not on the writing thread.
    ///
    /// # Errors
    /// Why it is none.
    pub fn draft(&self, edit: Edit) -> Result<Draft, Refusal> {
        let mut limits = self.limits.get();
        if edit.deleted {
            // A document that was written before the limit was lowered can be deleted.
            limits.id_bytes_max = usize::MAX;
        }
        if let Some(id) = &edit.id {
            let checked = id::check(id, &limits, self.is_partitioned);
            checked.map_err(Refusal::IllegalId)?;
        } else if self.is_partitioned {
            return Err(Refusal::IllegalId("Doc id must be of form partition:id"));
        }
        draft(edit, &limits)
    }

    /// Writes edits; what became of them is in the order they were given.
    pub fn write_edits(&self, edits: Vec<Edit>, mode: Mode) -> Pending<Vec<Outcome>> {
        let mut outcomes: Vec<Option<Outcome>> = Vec::with_capacity(edits.len());
        let mut accepted = Vec::with_capacity(edits.len());
        for (index, edit) in edits.into_iter().enumerate() {
            match self.draft(edit) {
                Ok(draft) => {
                    accepted.push((index, draft));
                    outcomes.push(None);
                }
                Err(refusal) => outcomes.push(Some(Err(refusal))),
            }
        }
        let partitions = self.partition_limit();
        self.write(move |connection| {
            let writer = Writer::limited(connection, partitions)?;
            let (done, seq) = write_drafts(writer, accepted, mode)?;
            for (index, progress) in done {
                outcomes[index] = Some(outcome(progress));
            }
            Ok((outcomes.into_iter().flatten().collect(), Some(seq)))
        })
    }

    /// Writes drafts as far as their consents go; how far is in the order they were given.
    pub fn write_drafts(&self, drafts: Vec<Draft>, mode: Mode) -> Pending<Vec<Progress>> {
        let partitions = self.partition_limit();
        self.write(move |connection| {
            let numbered = drafts.into_iter().enumerate().collect();
            let writer = Writer::limited(connection, partitions)?;
            let (mut done, seq) = write_drafts(writer, numbered, mode)?;
            done.sort_unstable_by_key(|(index, _)| *index);
            let done = done.into_iter().map(|(_, progress)| progress);
            Ok((done.collect(), Some(seq)))
        })
    }

    /// Returns the proposals of drafts: as many as fit a number of bytes together, and at least one.
    pub fn propose(
        &self,
        drafts: &[Draft],
        mode: Mode,
        bytes_max: usize,
    ) -> super::Result<Vec<Option<Proposal>>> {
        self.readers.read_snapshot(|connection| {
            let writer = Writer::new(connection)?;
            let (mut proposals, mut bytes) = (Vec::new(), 0);
            for draft in drafts {
                if bytes >= bytes_max {
                    break;
                }
                let proposal = writer.propose(draft, mode)?;
                let old = proposal.as_ref().and_then(|it| it.old.as_ref());
                bytes += draft.body_bytes() + old.map_or(0, |old| old.body.len());
                proposals.push(proposal);
            }
            Ok(proposals)
        })
    }

    /// Writes one edit.
    pub fn write_edit(&self, edit: Edit) -> Pending<Outcome> {
        let draft = match self.draft(edit) {
            Ok(draft) => draft,
            Err(refusal) => return Pending::known(Ok(Err(refusal))),
        };
        let partitions = self.partition_limit();
        self.write(move |connection| {
            let mut writer = Writer::limited(connection, partitions)?;
            let outcome = outcome(writer.edit(draft, Mode::New)?);
            let seq = writer.finish()?;
            Ok((outcome, Some(seq)))
        })
    }
}

/// Writes drafts in the order of their ids; how far each came, and the sequence of the last change.
fn write_drafts(
    mut writer: Writer<'_>,
    mut drafts: Vec<(usize, Draft)>,
    mode: Mode,
) -> super::Result<(Vec<(usize, Progress)>, u64)> {
    // Neighbours share a page of the index. Stable: of two edits of a document the first comes first.
    drafts.sort_by(|(_, one), (_, other)| one.id().cmp(other.id()));
    let mut done = Vec::with_capacity(drafts.len());
    let mut drafts = drafts.into_iter().peekable();
    while let Some(first) = drafts.next() {
        let is_next = |(_, next): &(usize, Draft)| next.id() == first.1.id();
        let others = std::iter::from_fn(|| drafts.next_if(is_next));
        let others: Vec<_> = others.collect();
        if others.is_empty() || mode == Mode::New || first.1.id().starts_with(id::LOCAL) {
            for (index, draft) in std::iter::once(first).chain(others) {
                done.push((index, writer.edit(draft, mode)?));
            }
            continue;
        }
        let id = first.1.id().to_owned();
        let group = std::iter::once(first).chain(others);
        done.extend(writer.replicated_of_one(&id, group.collect())?);
    }
    let seq = writer.finish()?;
    Ok((done, seq))
}

/// The outcome of an edit that needed no validation.
fn outcome(progress: Progress) -> Outcome {
    match progress {
        Progress::Done(outcome) => outcome,
        Progress::Stale(_) => Err(Refusal::Failed("its consent is missing".to_owned())),
    }
}

fn draft(edit: Edit, limits: &Limits) -> Result<Draft, Refusal> {
    Ok(Draft {
        ready: ready(edit, limits)?,
        consent: Consent::NotNeeded,
    })
}

fn ready(edit: Edit, limits: &Limits) -> Result<Ready, Refusal> {
    let id = edit.id.unwrap_or_else(id::make);
    id::check(&id, limits, false).map_err(Refusal::IllegalId)?;
    let mut names = HashSet::new();
    let mut attachments = Vec::with_capacity(edit.attachments.len());
    for attachment in edit.attachments {
        if !names.insert(attachment.name.clone()) {
            return Err(Refusal::BadRequest("Duplicate attachments".to_owned()));
        }
        attachments.push(ready_attachment(attachment, limits)?);
    }
    Ok(Ready {
        id,
        history: edit.history,
        deleted: edit.deleted,
        body: edit.body,
        term: edit.term,
        attachments,
    })
}

/// Writes one edit within another job; the sequence of the last change.
pub fn write_edit(
    connection: &Connection,
    edit: Edit,
    limits: &Limits,
) -> super::Result<(Outcome, u64)> {
    let draft = match draft(edit, limits) {
        Ok(draft) => draft,
        Err(refusal) => return Ok((Err(refusal), State::read(connection)?.update_seq)),
    };
    let mut writer = Writer::new(connection)?;
    let outcome = outcome(writer.edit(draft, Mode::New)?);
    Ok((outcome, writer.finish()?))
}

fn ready_attachment(
    attachment: NewAttachment,
    limits: &Limits,
) -> Result<ReadyAttachment, Refusal> {
    let NewAttachment {
        name,
        content_type,
        content,
    } = attachment;
    let content = match content {
        NewContent::Stub { revpos, .. } => ReadyContent::Stub { revpos },
        NewContent::Stored { content, revpos } => ReadyContent::Stored { content, revpos },
        NewContent::Inline { bytes, .. } if bytes.len() as u64 > limits.attachment_bytes_max => {
            let max = limits.attachment_bytes_max;
            let large = format!("the attachment {name} is larger than {max} bytes");
            return Err(Refusal::TooLarge(large));
        }
        NewContent::Inline { bytes, revpos } => {
            let mut encoder = Encoder::new(&content_type, Encoding::Identity);
            let encoded = encoder.write(&bytes).and_then(|()| encoder.finish());
            let encoded = encoded.map_err(|error: Error| Refusal::Failed(error.to_string()))?;
            ReadyContent::Encoded {
                encoded: Box::new(encoded),
                revpos,
            }
        }
        NewContent::Follows { .. } => {
            let missing = format!("the attachment {name} does not follow");
            return Err(Refusal::BadRequest(missing));
        }
    };
    Ok(ReadyAttachment {
        name,
        content_type,
        content,
    })
}
