//! The attachments of an edit.

use super::ready::{Ready, ReadyAttachment, ReadyContent};
use super::{Stop, Writer};
use crate::revision::{AttachmentDigest, History, Node};
use crate::store::attachment::Record;
use crate::store::blobs;
use crate::store::bulk::Refusal;
use crate::store::row::Stored;

impl Writer<'_> {
    /// Finds or stores the bytes of an edit's attachments. `generation` is that of a new edit; a replicated one says itself.
    pub(super) fn records(
        &self,
        edit: &Ready,
        stored: Option<&Stored>,
        before: Option<&Node>,
        generation: Option<u64>,
    ) -> Result<Vec<Record>, Stop> {
        if edit.attachments.is_empty() {
            return Ok(Vec::new());
        }
        let is_stub = |it: &ReadyAttachment| matches!(it.content, ReadyContent::Stub { .. });
        let known = match (stored, before) {
            (Some(stored), Some(before)) if edit.attachments.iter().any(is_stub) => {
                let body = stored.body(self.connection, before)?;
                body.map_or(Ok(Vec::new()), |body| body.records())?
            }
            _ => Vec::new(),
        };
        let own = edit.history.as_ref().map_or(1, History::start);
        let revpos = |given: &Option<u64>| generation.or(*given).unwrap_or(own);
        let mut records = Vec::with_capacity(edit.attachments.len());
        for attachment in &edit.attachments {
            let (name, content_type) = (attachment.name.clone(), attachment.content_type.clone());
            records.push(match &attachment.content {
                ReadyContent::Stub { revpos } => known
                    .iter()
                    .find(|it| it.name == name && revpos.is_none_or(|revpos| revpos == it.revpos))
                    .cloned()
                    .ok_or_else(|| Refusal::MissingStub {
                        id: edit.id.clone(),
                        name,
                    })?,
                ReadyContent::Encoded {
                    encoded,
                    revpos: given,
                } => Record {
                    name,
                    content_type,
                    revpos: revpos(given),
                    md5: encoded.md5,
                    length: encoded.length,
                    stored_length: encoded.stored_length,
                    encoding: encoded.encoding,
                    blob: blobs::store(self.connection, &encoded.sha256, &encoded.rest)?,
                },
                ReadyContent::Stored {
                    content,
                    revpos: given,
                } => Record {
                    name,
                    content_type,
                    revpos: revpos(given),
                    md5: content.md5,
                    length: content.length,
                    stored_length: content.stored_length,
                    encoding: content.encoding,
                    blob: content.blob(),
                },
            });
        }
        Ok(records)
    }
}

/// What of an attachment decides the revision.
pub(super) fn digest(record: &Record) -> AttachmentDigest<'_> {
    AttachmentDigest {
        name: &record.name,
        content_type: &record.content_type,
        md5: &record.md5,
    }
}
