//! A document as it is read.

use super::Attachment;
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

/// The leaves beside the one that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflicts {
    /// Those not deleted, the would-be winner first; shown when asked for and not empty.
    pub conflicts: Vec<Revision>,
    /// Those deleted; shown when asked for and not empty.
    pub deleted_conflicts: Vec<Revision>,
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
    /// The way to the revision, when asked for.
    pub history: Option<History>,
    /// The revisions on that way and what is left of them, newest first; empty when not asked for.
    pub revisions_info: Vec<RevisionInfo>,
    /// The other leaves, when asked for.
    pub conflicts: Conflicts,
    /// The sequence of the document's last change, when asked for.
    pub local_seq: Option<u64>,
}

impl Document {
    /// Appends the document as CouchDB writes it: `_id`, `_rev`, the body, then what was asked for.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        todo!("{}", out.len())
    }

    /// The document as [`Document::write_json`] writes it.
    pub fn to_json(&self) -> String {
        let mut out = Vec::with_capacity(self.body.len() + 128);
        self.write_json(&mut out);
        String::from_utf8(out).unwrap_or_default()
    }
}
