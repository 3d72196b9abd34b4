//! The attachments of an edit.

use super::ready::{Ready, ReadyContent};
use super::{Stop, Writer};
use crate::revision::{AttachmentDigest, History, Node};
use crate::store::attachment::Record;
use crate::store::blobs;
use crate::store::bulk::Refusal;
use crate::store::encoder::Encoded;
use crate::store::row::Stored;

/// An attachment of a revision that may still be refused.
pub(super) struct NewAttachment {
    /// What is kept of it; where its bytes are is not known before they are stored.
    pub record: Record,
    /// Its bytes, if they are not stored.
    bytes: Option<Box<Encoded>>,
}

impl NewAttachment {
    /// What of it decides the revision.
    pub fn digest(&self) -> AttachmentDigest<'_> {
        AttachmentDigest {
            name: &self.record.name,
            content_type: &self.record.content_type,
            md5: &self.record.md5,
        }
    }
}

impl Writer<'_> {
    /// Takes the attachments of an edit, and finds those that are stubs in the revision before it. `generation` is that of a
    /// new edit; a replicated one says itself.
    pub(super) fn attachments(
        &self,
        edit: &mut Ready,
        stored: Option<&Stored>,
        before: Option<&Node>,
        generation: Option<u64>,
    ) -> Result<Vec<NewAttachment>, Stop> {
        let known = match (stored, before) {
            (Some(stored), Some(before)) if edit.has_stubs() => {
                let body = stored.body(self.connection, before)?;
                body.map_or(Ok(Vec::new()), |body| body.records())?
            }
            _ => Vec::new(),
        };
        let own = edit.history.as_ref().map_or(1, History::start);
        let revpos = |given: Option<u64>| generation.or(given).unwrap_or(own);
        let mut taken = Vec::with_capacity(edit.attachments.len());
        for attachment in std::mem::take(&mut edit.attachments) {
            let (name, content_type) = (attachment.name, attachment.content_type);
            let (facts, blob, given, bytes) = match attachment.content {
                ReadyContent::Stub { revpos } => {
                    let record = find_stub(&known, &edit.id, name, revpos)?;
                    let bytes = None;
                    taken.push(NewAttachment { record, bytes });
                    continue;
                }
                ReadyContent::Encoded { encoded, revpos } => {
                    (encoded.facts, 0, revpos, Some(encoded))
                }
                ReadyContent::Stored { content, revpos } => {
                    (content.facts, content.blob(), revpos, None)
                }
            };
            let record = Record {
                name,
                content_type,
                revpos: revpos(given),
                md5: facts.md5,
                length: facts.length,
                stored_length: facts.stored_length,
                encoding: facts.encoding,
                blob,
            };
            taken.push(NewAttachment { record, bytes });
        }
        Ok(taken)
    }

    /// Stores the bytes that are not stored.
    pub(super) fn store_attachments(
        &self,
        attachments: Vec<NewAttachment>,
    ) -> crate::store::Result<Vec<Record>> {
        let mut records = Vec::with_capacity(attachments.len());
        for NewAttachment { mut record, bytes } in attachments {
            if let Some(encoded) = bytes {
                record.blob = blobs::store(self.connection, &encoded.sha256, &encoded.rest)?;
            }
            records.push(record);
        }
        Ok(records)
    }
}

/// The attachment that a stub names, among those of the revision before.
fn find_stub(
    known: &[Record],
    id: &str,
    name: String,
    revpos: Option<u64>,
) -> Result<Record, Refusal> {
    let is_meant =
        |it: &&Record| it.name == name && revpos.is_none_or(|revpos| revpos == it.revpos);
    let found = known.iter().find(is_meant).cloned();
    found.ok_or_else(|| Refusal::MissingStub {
        id: id.to_owned(),
        name,
    })
}
