//! Statistics of a replication.

use serde_json::{Map, Value};

/// Counts since the start of the session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The number of compared revisions.
    pub missing_checked: u64,
    /// The number of compared revisions that the target lacked.
    pub missing_found: u64,
    /// The number of documents read from the source.
    pub docs_read: u64,
    /// The number of documents written to the target.
    pub docs_written: u64,
    /// The number of documents that the target refused.
    pub doc_write_failures: u64,
}

impl Statistics {
    /// The statistics in the format of CouchDB's checkpoints.
    pub fn fields(&self) -> Map<String, Value> {
        let fields = [
            ("missing_checked", self.missing_checked),
            ("missing_found", self.missing_found),
            ("docs_read", self.docs_read),
            ("docs_written", self.docs_written),
            ("doc_write_failures", self.doc_write_failures),
        ];
        fields
            .map(|(name, count)| (name.to_owned(), count.into()))
            .into_iter()
            .collect()
    }
}
