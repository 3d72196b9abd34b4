//! Purges of leaf revisions.

use super::Pending;
use super::shared::Shared;
use super::write::Writer;
use crate::revision::Revision;
use std::collections::BTreeMap;

/// The purged revisions of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purged {
    /// The document.
    pub id: String,
    /// The purged leaf revisions.
    pub revisions: Vec<Revision>,
}

impl Shared {
    /// Purges leaf revisions in one transaction.
    pub fn purge(&self, revisions: BTreeMap<String, Vec<Revision>>) -> Pending<Vec<Purged>> {
        let partitions = self.partition_limit();
        self.write(move |connection| {
            let mut writer = Writer::limited(connection, partitions)?;
            let mut purged = Vec::with_capacity(revisions.len());
            for (id, revisions) in revisions {
                let revisions = writer.purge(&id, &revisions)?;
                purged.push(Purged { id, revisions });
            }
            writer.state.purge_seq += 1;
            let seq = writer.finish()?;
            Ok((purged, Some(seq)))
        })
    }
}
