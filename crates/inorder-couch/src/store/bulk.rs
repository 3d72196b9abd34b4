//! Many edits at once.

use super::database::Shared;
use super::encoder::Encoder;
use super::state::State;
use super::write::{Ready, ReadyAttachment, ReadyContent, Writer};
use super::{Document, Edit, Encoding, Error, Limits, NewAttachment, NewContent, Pending, id};
use crate::revision::Revision;
use crate::store;
use rusqlite::Connection;
use std::collections::HashSet;

/// What became of an edit that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The document.
    pub id: String,
    /// Its new revision.
    pub revision: Revision,
}

/// Why one edit of many was refused; the others are not touched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It was not made from a current revision.
    #[error("Document update conflict.")]
    Conflict,
    /// The validation function said `{forbidden: ...}`.
    #[error("{0}")]
    Forbidden(String),
    /// The validation function said `{unauthorized: ...}`.
    #[error("{0}")]
    Unauthorized(String),
    /// A stub names an attachment that the revision before does not have.
    #[error("Invalid attachment stub in {id} for {name}")]
    MissingStub {
        /// The document.
        id: String,
        /// The attachment.
        name: String,
    },
    /// The id is none for a document.
    #[error("{0}")]
    IllegalId(&'static str),
    /// Two attachments with one name, or one whose bytes never came.
    #[error("{0}")]
    BadRequest(String),
    /// The validation function failed: it threw something else, or took too long. A server's fault, not the client's.
    #[error("{0}")]
    Failed(String),
}

/// What became of one edit.
pub type Outcome = Result<Written, Refusal>;

/// Whether an edit is allowed: the new revision, and the one before it. Called on the writing thread, with the document as it
/// will be written; local documents are not asked about. It must not hold a [`Database`](super::Database), whose last handle
/// waits for the thread to end.
pub type Validate = Box<dyn FnMut(&Document, Option<&Document>) -> Result<(), Refusal> + Send>;

/// What an edit says of its revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// What it was made from.
    New,
    /// What it is, made elsewhere.
    Replicated,
}

impl Shared {
    /// Writes edits, in the order of their ids; what became of them is in the order they were given.
    pub fn write_edits(
        &self,
        edits: Vec<Edit>,
        mode: Mode,
        mut validate: Option<Validate>,
    ) -> Pending<Vec<Outcome>> {
        let mut outcomes: Vec<Option<Outcome>> = Vec::with_capacity(edits.len());
        let mut accepted = Vec::with_capacity(edits.len());
        for (index, edit) in edits.into_iter().enumerate() {
            match ready(edit, &self.settings.limits) {
                Ok(edit) => {
                    accepted.push((index, edit));
                    outcomes.push(None);
                }
                Err(refusal) => outcomes.push(Some(Err(refusal))),
            }
        }
        // Neighbours share a page of the index. Stable: of two edits of a document the first comes first.
        accepted.sort_by(|(_, one), (_, other)| one.id.cmp(&other.id));
        self.write(move |connection| {
            let mut writer = Writer::new(connection)?;
            for (index, edit) in accepted {
                outcomes[index] = Some(writer.edit(edit, mode, validate.as_mut())?);
            }
            let seq = writer.finish()?;
            Ok((outcomes.into_iter().flatten().collect(), Some(seq)))
        })
    }

    /// Writes one edit.
    pub fn write_edit(&self, edit: Edit, mut validate: Option<Validate>) -> Pending<Outcome> {
        let ready = match ready(edit, &self.settings.limits) {
            Ok(ready) => ready,
            Err(refusal) => return Pending::known(Ok(Err(refusal))),
        };
        self.write(move |connection| {
            let mut writer = Writer::new(connection)?;
            let outcome = writer.edit(ready, Mode::New, validate.as_mut())?;
            let seq = writer.finish()?;
            Ok((outcome, Some(seq)))
        })
    }
}

/// Checks an edit, and compresses its attachments: on the caller's thread, not the one that writes.
fn ready(edit: Edit, limits: &Limits) -> Result<Ready, Refusal> {
    let id = edit.id.unwrap_or_else(id::make);
    id::check(&id, limits).map_err(Refusal::IllegalId)?;
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
) -> store::Result<(Outcome, u64)> {
    let ready = match ready(edit, limits) {
        Ok(ready) => ready,
        Err(refusal) => return Ok((Err(refusal), State::read(connection)?.update_seq)),
    };
    let mut writer = Writer::new(connection)?;
    let outcome = writer.edit(ready, Mode::New, None)?;
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
            return Err(Refusal::BadRequest(large));
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
