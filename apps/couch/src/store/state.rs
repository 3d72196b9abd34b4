//! The numbers that change with every write.

use rusqlite::{Connection, Row};

/// The changing part of the row of `state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    pub update_seq: u64,
    pub purge_seq: u64,
    pub doc_count: u64,
    pub deleted_count: u64,
    pub external_bytes: u64,
    /// The sequence of the last change of a design document.
    pub design_seq: u64,
    pub revs_limit: u64,
}

impl State {
    pub fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let mut statement = connection.prepare_cached(
            "SELECT update_seq, purge_seq, doc_count, deleted_count, external_bytes, design_seq, revs_limit FROM state",
        )?;
        statement.query_row([], |row| {
            Ok(State {
                update_seq: number(row, 0)?,
                purge_seq: number(row, 1)?,
                doc_count: number(row, 2)?,
                deleted_count: number(row, 3)?,
                external_bytes: number(row, 4)?,
                design_seq: number(row, 5)?,
                revs_limit: number(row, 6)?,
            })
        })
    }

    pub fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(
            "UPDATE state SET update_seq = ?1, purge_seq = ?2, doc_count = ?3, deleted_count = ?4,
             external_bytes = ?5, design_seq = ?6, revs_limit = ?7",
        )?;
        statement.execute([
            self.update_seq as i64,
            self.purge_seq as i64,
            self.doc_count as i64,
            self.deleted_count as i64,
            self.external_bytes as i64,
            self.design_seq as i64,
            self.revs_limit as i64,
        ])?;
        Ok(())
    }

    /// Counts a document in or out.
    pub fn count(&mut self, deleted: bool, bytes: u64, change: Count) {
        let count = if deleted {
            &mut self.deleted_count
        } else {
            &mut self.doc_count
        };
        match change {
            Count::In => {
                *count += 1;
                self.external_bytes += bytes;
            }
            Count::Out => {
                *count = count.saturating_sub(1);
                self.external_bytes = self.external_bytes.saturating_sub(bytes);
            }
        }
    }
}

/// Whether a document comes or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    In,
    Out,
}

/// Reads a count or sequence. A negative one means a damaged file.
pub fn number(row: &Row<'_>, index: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(index)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(index, value))
}
