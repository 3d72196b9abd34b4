//! What a replication has done.

use serde_json::{Map, Value};

/// Counts since the start of the session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Revisions that were compared.
    pub missing_checked: u64,
    /// Of them, those the target lacked.
    pub missing_found: u64,
    /// Documents read from the source.
    pub docs_read: u64,
    /// Documents written to the target.
    pub docs_written: u64,
    /// Documents that the target refused.
    pub doc_write_failures: u64,
}

impl Statistics {
    /// As CouchDB's checkpoints have them.
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
