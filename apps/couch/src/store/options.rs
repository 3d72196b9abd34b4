//! Which parts of a document are read.

use crate::revision::Revision;

/// Which attachments come with their bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AttachmentOption {
    /// None of them.
    #[default]
    Stubs,
    /// All, in the JSON.
    Inline,
    /// All, as parts that follow the JSON.
    Follow,
    /// Include the bytes of attachments added after these revisions (`atts_since`).
    InlineSince(Vec<Revision>),
    /// The same, as parts that follow.
    FollowSince(Vec<Revision>),
}

/// The parts of a document to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GetOptions {
    /// The revision; none for the winner.
    pub revision: Option<Revision>,
    /// Instead of the revision, the leaf that came of it.
    pub latest: bool,
    /// Include the path to the revision.
    pub revs: bool,
    /// Include the availability of each revision on the path.
    pub revs_info: bool,
    /// Include the other leaves.
    pub conflicts: bool,
    /// Include the other deleted leaves.
    pub deleted_conflicts: bool,
    /// Include the sequence of the last change.
    pub local_seq: bool,
    /// Which attachments come with their bytes.
    pub attachments: AttachmentOption,
    /// Include the stored encoding of attachments (`encoding`, `encoded_length`).
    pub att_encoding_info: bool,
}

impl GetOptions {
    /// Makes attachments follow the JSON, compressed ones in their stored form. Without a choice of attachments all follow.
    pub fn follow(&mut self) {
        self.att_encoding_info = true;
        self.attachments = match std::mem::take(&mut self.attachments) {
            AttachmentOption::InlineSince(since) | AttachmentOption::FollowSince(since) => {
                AttachmentOption::FollowSince(since)
            }
            _ => AttachmentOption::Follow,
        };
    }
}
