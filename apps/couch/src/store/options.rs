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
    /// Those that came after these revisions, in the JSON (`atts_since`).
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
    /// With the way to the revision.
    pub revs: bool,
    /// With what is left of each revision on the way.
    pub revs_info: bool,
    /// With the other leaves.
    pub conflicts: bool,
    /// With the other leaves that are deletions.
    pub deleted_conflicts: bool,
    /// With the sequence of the last change.
    pub local_seq: bool,
    /// Which attachments come with their bytes.
    pub attachments: AttachmentOption,
    /// With how attachments are stored (`encoding`, `encoded_length`).
    pub att_encoding_info: bool,
}
