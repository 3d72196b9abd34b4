//! Partitioned databases: each id is `partition:id`, and a query may be of one partition.

use super::Result;
use super::state::number;
use rusqlite::{Connection, OptionalExtension};

/// The property that marks a partitioned database.
pub const PARTITIONED: &str = "partitioned";

/// The numbers of a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionInfo {
    /// Documents that are not deleted.
    pub doc_count: u64,
    /// Documents that are deleted.
    pub deleted_count: u64,
    /// Bytes of their bodies.
    pub body_bytes: u64,
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
        "SELECT deleted, count(*), sum(octet_length(body)) FROM docs WHERE id >= ?1 AND id < ?2 GROUP BY deleted",
    )?;
    let mut rows = statement.query(bounds(partition))?;
    while let Some(row) = rows.next()? {
        let count = number(row, 1)?;
        info.body_bytes += number(row, 2)?;
        match row.get(0)? {
            true => info.deleted_count = count,
            false => info.doc_count = count,
        }
    }
    Ok(info)
}
