//! What has changed since a sequence.

use super::Document;
use crate::revision::Revision;

/// Which revisions a change lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// The winner.
    #[default]
    MainOnly,
    /// Every leaf.
    AllDocs,
}

/// What is asked of the changes.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Only later changes than this sequence; descending, too.
    pub since: u64,
    /// At most so many; none for as many as a page has.
    pub limit: Option<usize>,
    /// Newest first.
    pub descending: bool,
    /// Which revisions are listed.
    pub style: Style,
    /// Only these documents.
    pub doc_ids: Option<Vec<String>>,
    /// Only design documents.
    pub design_only: bool,
    /// With the winning revision.
    pub include_docs: Option<super::GetOptions>,
}

/// A document that has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The sequence of its last change.
    pub seq: u64,
    /// Its id.
    pub id: String,
    /// The revisions, the winner first.
    pub revisions: Vec<Revision>,
    /// Whether the winner is a deletion.
    pub deleted: bool,
    /// The winner, when asked for.
    pub document: Option<Document>,
}

/// Some changes, in order. A page is bounded: ask again with `since` set to [`ChangesPage::last_seq`] until [`ChangesPage::is_last`].
#[derive(Clone, Debug, PartialEq)]
pub struct ChangesPage {
    /// The changes.
    pub changes: Vec<Change>,
    /// The sequence up to which everything was looked at, also what a filter left out; never goes back.
    pub last_seq: u64,
    /// Whether there was nothing more; with a limit that was reached, false.
    pub is_last: bool,
    /// How many changes come after `last_seq`: exact up to 10,000, above that at least 10,000 and not too few.
    pub pending: u64,
}
