//! Partitioned databases: each id is `partition:id`, and a query may be of one partition.

use super::state::number;
use super::{Result, row};
use rusqlite::{Connection, OptionalExtension};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The property that marks a partitioned database.
pub const PARTITIONED: &str = "partitioned";

/// The numbers of a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionInfo {
    /// Documents that are not deleted.
    pub doc_count: u64,
    /// Documents that are deleted.
    pub deleted_count: u64,
    /// Bytes of their bodies and attachments, decoded.
    pub external_bytes: u64,
}

/// Partitions whose sizes are kept.
const KNOWN_MAX: usize = 10_000;

/// The sizes of partitions that were asked for, kept up to date by the writing thread: adding one up reads all its rows.
#[derive(Debug, Default)]
pub struct Sizes(Mutex<HashMap<String, u64>>);

impl Sizes {
    fn bytes(&self, connection: &Connection, partition: &str) -> Result<u64> {
        if let Some(known) = self.lock().get(partition) {
            return Ok(*known);
        }
        let bytes = info(connection, partition)?.external_bytes;
        let mut known = self.lock();
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(partition.to_owned(), bytes);
        Ok(bytes)
    }

    /// Forgets all sizes, after a write that was undone.
    pub fn forget(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The limit of the partitions of a database, within one job of the writing thread.
#[derive(Debug)]
pub struct Limit {
    bytes_max: u64,
    sizes: Arc<Sizes>,
    /// Whether partitions were full when the job first wrote to them, as in CouchDB.
    full: HashMap<String, bool>,
}

impl Limit {
    /// The limit for another job.
    pub fn new(bytes_max: u64, sizes: Arc<Sizes>) -> Self {
        Limit {
            bytes_max,
            sizes,
            full: HashMap::new(),
        }
    }

    /// Whether the partition of a document is full. The database has so many bytes in all.
    pub fn is_full(&mut self, connection: &Connection, id: &str, all_bytes: u64) -> Result<bool> {
        let Some(partition) = partition_of(id).filter(|_| all_bytes >= self.bytes_max) else {
            return Ok(false);
        };
        if let Some(known) = self.full.get(partition) {
            return Ok(*known);
        }
        let is_full = self.sizes.bytes(connection, partition)? >= self.bytes_max;
        self.full.insert(partition.to_owned(), is_full);
        Ok(is_full)
    }

    /// Notes the new size of a document.
    pub fn count(&self, id: &str, old_bytes: u64, new_bytes: u64) {
        let mut known = self.sizes.lock();
        if let Some(bytes) = partition_of(id).and_then(|partition| known.get_mut(partition)) {
            *bytes = bytes.saturating_sub(old_bytes) + new_bytes;
        }
    }
}

/// The partition of a document; none for design documents.
fn partition_of(id: &str) -> Option<&str> {
    let (partition, _) = id.split_once(':')?;
    (!id.starts_with('_')).then_some(partition)
}

/// Whether a database is partitioned.
pub fn partitioned(connection: &Connection) -> Result<bool> {
    let sql = "SELECT 1 FROM properties WHERE name = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([PARTITIONED], |_| Ok(())).optional()?;
    Ok(found.is_some())
}

/// The first id that may be in a partition, and the first after it.
pub fn bounds(partition: &str) -> (String, String) {
    (format!("{partition}:"), format!("{partition};"))
}

/// Counts the documents of a partition.
pub fn info(connection: &Connection, partition: &str) -> Result<PartitionInfo> {
    let mut info = PartitionInfo::default();
    let mut statement = connection.prepare_cached(
        "SELECT deleted, octet_length(body), atts FROM docs WHERE id >= ?1 AND id < ?2",
    )?;
    let mut rows = statement.query(bounds(partition))?;
    while let Some(row) = rows.next()? {
        let atts: Option<String> = row.get(2)?;
        info.external_bytes += row::external_bytes(number(row, 1)?, atts.as_deref())?;
        match row.get(0)? {
            true => info.deleted_count += 1,
            false => info.doc_count += 1,
        }
    }
    Ok(info)
}
