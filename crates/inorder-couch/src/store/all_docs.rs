//! All documents, in the order of their ids.

use super::{Document, GetOptions};
use crate::revision::Revision;

/// What is asked of all documents. Ids are in the order of their bytes, as CouchDB has them in `_all_docs`.
#[derive(Clone, Debug)]
pub struct AllDocs {
    /// The first id in the direction asked for; it need not exist.
    pub start: Option<String>,
    /// The last.
    pub end: Option<String>,
    /// Whether the last itself belongs to it.
    pub inclusive_end: bool,
    /// These and no others, in this order; ids that do not exist and those that are deleted have a row, too.
    pub keys: Option<Vec<String>>,
    /// At most so many rows.
    pub limit: Option<usize>,
    /// Rows left out before the first.
    pub skip: usize,
    /// From the last to the first.
    pub descending: bool,
    /// With the winning revision.
    pub include_docs: Option<GetOptions>,
}

impl Default for AllDocs {
    fn default() -> Self {
        AllDocs {
            start: None,
            end: None,
            inclusive_end: true,
            keys: None,
            limit: None,
            skip: 0,
            descending: false,
            include_docs: None,
        }
    }
}

/// What is known of the document of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum RowValue {
    /// It is there.
    Present {
        /// Its winning revision.
        revision: Revision,
        /// The document, when asked for.
        document: Option<Box<Document>>,
    },
    /// It was deleted (only with keys).
    Deleted {
        /// The winning revision.
        revision: Revision,
    },
    /// There is none (only with keys).
    Missing,
}

/// A row of all documents.
#[derive(Clone, Debug, PartialEq)]
pub struct AllDocsRow {
    /// The id.
    pub id: String,
    /// What is known of it.
    pub value: RowValue,
}

/// Some rows. A page is bounded; [`AllDocsPage::next`] has the question for the next.
#[derive(Clone, Debug)]
pub struct AllDocsPage {
    /// The rows.
    pub rows: Vec<AllDocsRow>,
    /// Documents of the database that are not deleted.
    pub total_rows: u64,
    /// Rows before the first in this order; none where keys were asked for.
    pub offset: Option<u64>,
    /// The sequence of the snapshot the page is from.
    pub update_seq: u64,
    /// What is left of the question, when the page did not answer all of it. Every page is a snapshot of its own.
    pub next: Option<AllDocs>,
}
