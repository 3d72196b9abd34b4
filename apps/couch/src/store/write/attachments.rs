//! The attachments of an edit.

use super::ready::{Ready, ReadyAttachment, ReadyContent};
use super::writer::{Stop, Writer};
use crate::revision::{AttachmentDigest, History, Node};
use crate::store::Refusal;
use crate::store::attachment::Record;
use crate::store::blobs;
use crate::store::row::Stored;

/// The part of an attachment that enters the revision hash.
pub(super) fn digest(record: &Record) -> AttachmentDigest<'_> {
    AttachmentDigest {
        name: &record.name,
        content_type: &record.content_type,
        md5: &record.md5,
    }
}

impl Writer<'_> {
    /// What is to be kept of an edit's attachments; stubs are found in the revision before it, and where other bytes are is not
    /// known before they are stored. `generation` is that of a new edit; a replicated one says itself.
    pub(super) fn records(
        &self,
        edit: &Ready,
        stored: Option<&Stored>,
        before: Option<&Node>,
        generation: Option<u64>,
    ) -> Result<Vec<Record>, Stop> {
        let known = match (stored, before) {
            (Some(stored), Some(before)) if edit.has_stubs() => {
                let body = stored.body(self.connection, before)?;
                body.map_or(Ok(Vec::new()), |body| body.records())?
            }
            _ => Vec::new(),
        };
        let own = edit.history.as_ref().map_or(1, History::start);
        let mut records = Vec::with_capacity(edit.attachments.len());
        for attachment in &edit.attachments {
            let (facts, blob, given) = match &attachment.content {
                ReadyContent::Stub { revpos } => {
                    records.push(find_stub(&known, &edit.id, &attachment.name, *revpos)?);
                    continue;
                }
                ReadyContent::Encoded { encoded, revpos } => (&encoded.facts, 0, *revpos),
                ReadyContent::Stored { content, revpos } => {
                    (&content.facts, content.blob(), *revpos)
                }
            };
            records.push(Record {
                name: attachment.name.clone(),
                content_type: attachment.content_type.clone(),
                revpos: generation.or(given).unwrap_or(own),
                md5: facts.md5,
                length: facts.length,
                stored_length: facts.stored_length,
                encoding: facts.encoding,
                blob,
            });
        }
        Ok(records)
    }

    /// Stores the bytes of attachments that are not stored, and notes in their records where they are.
    pub(super) fn store_attachments(
        &self,
        attachments: Vec<ReadyAttachment>,
        records: &mut [Record],
    ) -> crate::store::Result<()> {
        for (attachment, record) in attachments.into_iter().zip(records) {
            if let ReadyContent::Encoded { encoded, .. } = attachment.content {
                record.blob = blobs::store(self.connection, &encoded.sha256, &encoded.rest)?;
            }
        }
        Ok(())
    }
}

/// The attachment that a stub names, among those of the revision before.
fn find_stub(
    known: &[Record],
    id: &str,
    name: &str,
    revpos: Option<u64>,
) -> Result<Record, Refusal> {
    let is_meant =
        |it: &&Record| it.name == name && revpos.is_none_or(|revpos| revpos == it.revpos);
    let found = known.iter().find(is_meant).cloned();
    found.ok_or_else(|| Refusal::MissingStub {
        id: id.to_owned(),
        name: name.to_owned(),
    })
}
