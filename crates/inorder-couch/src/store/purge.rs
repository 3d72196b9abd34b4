//! Forgetting revisions as if they had never been.

use crate::revision::Revision;

/// What was forgotten of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purged {
    /// The document.
    pub id: String,
    /// The leaves that are gone.
    pub revisions: Vec<Revision>,
}
