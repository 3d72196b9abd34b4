//! The size of a database.

use super::Result;
use super::shared::Shared;
use super::state::{State, number};
use std::path::Path;
use std::sync::atomic::Ordering;

/// A database in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// Its name.
    pub name: String,
    /// Documents that are not deleted, design documents among them.
    pub doc_count: u64,
    /// Documents that are deleted.
    pub deleted_count: u64,
    /// The sequence of the last change.
    pub update_seq: u64,
    /// The sequence of the last purge.
    pub purge_seq: u64,
    /// When it was created, in microseconds since 1970: tells a database from an earlier one of the same name.
    pub created_microseconds: u64,
    /// The unique id of the database, 32 hexadecimal digits.
    pub uuid: String,
    /// Bytes of its file and of the log beside it.
    pub file_bytes: u64,
    /// Bytes of the file that hold something.
    pub active_bytes: u64,
    /// Bytes of all winning bodies and their attachments, decoded.
    pub external_bytes: u64,
    /// Whether each id names a partition.
    pub is_partitioned: bool,
    /// Whether it is being compacted.
    pub compact_running: bool,
}

impl Shared {
    /// Its numbers.
    pub fn info(&self) -> Result<Info> {
        let (state, active_bytes, created_microseconds, uuid) =
            self.readers.read_snapshot(|connection| {
                let state = State::read(connection)?;
                let pragma = |name| connection.pragma_query_value(None, name, |row| number(row, 0));
                // Without the page of the schema, which holds no data.
                let pages = pragma("page_count")?.saturating_sub(pragma("freelist_count")? + 1);
                let sql = "SELECT created_microseconds, uuid FROM state";
                let mut statement = connection.prepare_cached(sql)?;
                let (created, uuid) = statement
                    .query_row([], |row| Ok((number(row, 0)?, row.get::<_, String>(1)?)))?;
                Ok((state, pages * pragma("page_size")?, created, uuid))
            })?;
        let bytes = |path: &Path| path.metadata().map_or(0, |metadata| metadata.len());
        let log = self.path.with_extension("sqlite-wal");
        Ok(Info {
            name: self.name.clone(),
            doc_count: state.doc_count,
            deleted_count: state.deleted_count,
            update_seq: state.update_seq,
            purge_seq: state.purge_seq,
            created_microseconds,
            uuid,
            file_bytes: bytes(&self.path) + bytes(&log),
            active_bytes,
            external_bytes: state.external_bytes,
            is_partitioned: self.is_partitioned,
            compact_running: self.is_compacting.load(Ordering::Relaxed),
        })
    }
}
