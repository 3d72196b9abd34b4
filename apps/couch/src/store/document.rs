//! The result of reading a document.

use super::{Attachment, Content};
use crate::json;
use crate::mango::Selector;
use crate::revision::{History, Revision};

/// Whether a revision's body can still be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevisionStatus {
    /// It can.
    Available,
    /// It is known by name only.
    Missing,
    /// It can, and is a deletion.
    Deleted,
}

/// A line of `_revs_info`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionInfo {
    /// The revision.
    pub revision: Revision,
    /// Whether its body can be read.
    pub status: RevisionStatus,
}

/// The other leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflicts {
    /// The leaves that are not deleted, in the order of winning; shown if requested and not empty.
    pub conflicts: Vec<Revision>,
    /// The deleted leaves; shown if requested and not empty.
    pub deleted_conflicts: Vec<Revision>,
}

impl Conflicts {
    /// Whether there are none to show.
    pub fn is_empty(&self) -> bool {
        self.conflicts.is_empty() && self.deleted_conflicts.is_empty()
    }
}

/// One revision of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The id.
    pub id: String,
    /// The revision that was read.
    pub revision: Revision,
    /// Whether the revision is a deletion.
    pub deleted: bool,
    /// The body: a JSON object as it was received, without white space and without members that begin with an underscore.
    pub body: String,
    /// The attachments, in the order they were given.
    pub attachments: Vec<Attachment>,
    /// The path to the revision, if requested.
    pub history: Option<History>,
    /// The revisions on the path with their availability, newest first; empty if not requested.
    pub revisions_info: Vec<RevisionInfo>,
    /// The other leaves, if requested.
    pub conflicts: Conflicts,
    /// The sequence of the document's last change, if requested.
    pub local_seq: Option<u64>,
}

impl Document {
    /// Appends the document in CouchDB's format: `_id`, `_rev`, the body, then the requested members. The data of inline attachments
    /// is left out: [`segments`](super::segments) finds the gaps.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"_id\":");
        json::write_string(out, &self.id);
        out.extend_from_slice(b",\"_rev\":");
        write_revision(out, &self.revision);
        let members = self.body.get(1..self.body.len().saturating_sub(1));
        let members = members.unwrap_or_default();
        if !members.is_empty() {
            out.push(b',');
            out.extend_from_slice(members.as_bytes());
        }
        if self.deleted {
            out.extend_from_slice(b",\"_deleted\":true");
        }
        self.write_history(out);
        if let Some(seq) = self.local_seq {
            out.extend_from_slice(format!(",\"_local_seq\":{seq}").as_bytes());
        }
        write_revisions(out, "_conflicts", &self.conflicts.conflicts);
        write_revisions(out, "_deleted_conflicts", &self.conflicts.deleted_conflicts);
        if !self.attachments.is_empty() {
            out.extend_from_slice(b",\"_attachments\":{");
            write_list(out, &self.attachments, |out, attachment| {
                json::write_string(out, &attachment.name);
                out.push(b':');
                attachment.write_json(out);
            });
            out.push(b'}');
        }
        out.push(b'}');
    }

    /// The size of its text in bytes, about.
    pub(crate) fn text_bytes(&self) -> usize {
        const ATTACHMENT_BYTES: usize = 256;
        self.body.len() + self.attachments.len() * ATTACHMENT_BYTES
    }

    /// Returns whether it matches a selector. `_id`, `_rev`, `_deleted` and `_attachments` are matched as they are shown.
    pub fn matches(&self, selector: &Selector) -> bool {
        match selector.is_on_special_fields() {
            true => selector.matches_text(&self.to_json()),
            false => selector.matches_text(&self.body),
        }
    }

    /// The document as [`Document::write_json`] writes it, with attachments that would be inline as stubs.
    pub fn to_json(&self) -> String {
        let is_inline = |it: &Attachment| it.content == Content::Inline;
        if self.attachments.iter().any(is_inline) {
            let mut stubs = self.clone();
            for attachment in stubs.attachments.iter_mut().filter(|it| is_inline(it)) {
                attachment.content = Content::Stub;
            }
            return stubs.to_json();
        }
        let mut out = Vec::with_capacity(self.body.len() + 128);
        self.write_json(&mut out);
        // Only text was written.
        String::from_utf8(out).unwrap_or_default()
    }

    fn write_history(&self, out: &mut Vec<u8>) {
        if let Some(history) = &self.history {
            let start = history.start();
            out.extend_from_slice(
                format!(",\"_revisions\":{{\"start\":{start},\"ids\":[").as_bytes(),
            );
            write_list(out, history.hashes(), |out, hash| {
                json::write_string(out, &hash.to_string());
            });
            out.extend_from_slice(b"]}");
        }
        if !self.revisions_info.is_empty() {
            out.extend_from_slice(b",\"_revs_info\":[");
            write_list(out, &self.revisions_info, |out, info| {
                out.extend_from_slice(b"{\"rev\":");
                write_revision(out, &info.revision);
                out.extend_from_slice(match info.status {
                    RevisionStatus::Available => b",\"status\":\"available\"}".as_slice(),
                    RevisionStatus::Missing => b",\"status\":\"missing\"}",
                    RevisionStatus::Deleted => b",\"status\":\"deleted\"}",
                });
            });
            out.push(b']');
        }
    }
}

fn write_revision(out: &mut Vec<u8>, revision: &Revision) {
    // A revision has no character that JSON escapes, unless its hash came from elsewhere.
    match revision.hash.is_digest() {
        true => {
            out.push(b'"');
            revision.write(out);
            out.push(b'"');
        }
        false => json::write_string(out, &revision.to_string()),
    }
}

fn write_revisions(out: &mut Vec<u8>, name: &str, revisions: &[Revision]) {
    if revisions.is_empty() {
        return;
    }
    out.extend_from_slice(format!(",\"{name}\":[").as_bytes());
    write_list(out, revisions, |out, revision| {
        write_revision(out, revision)
    });
    out.push(b']');
}

fn write_list<T>(out: &mut Vec<u8>, items: &[T], write: impl Fn(&mut Vec<u8>, &T)) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, item);
    }
}
