//! What a simulation counts. The numbers are sums over weighted pages.

use std::ops::Sub;

/// Input and output of a database.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counters {
    /// Rows that were inserted.
    pub rows: f64,
    /// Bytes written to the log.
    pub log_bytes: f64,
    /// Bytes written to tables and indexes.
    pub page_bytes: f64,
    /// Page writes to tables and indexes.
    pub page_writes: f64,
    /// Pages read from outside the cache.
    pub read_pages: f64,
    /// Pages that were asked for.
    pub accesses: f64,
    /// Checkpoints.
    pub checkpoints: f64,
}

impl Counters {
    /// All bytes written.
    pub fn written_bytes(&self) -> f64 {
        self.log_bytes + self.page_bytes
    }

    /// So many times as much of everything.
    pub(crate) fn times(self, factor: f64) -> Self {
        Counters {
            rows: self.rows * factor,
            log_bytes: self.log_bytes * factor,
            page_bytes: self.page_bytes * factor,
            page_writes: self.page_writes * factor,
            read_pages: self.read_pages * factor,
            accesses: self.accesses * factor,
            checkpoints: self.checkpoints * factor,
        }
    }
}

impl Sub for Counters {
    type Output = Counters;

    fn sub(self, earlier: Counters) -> Counters {
        Counters {
            rows: self.rows - earlier.rows,
            log_bytes: self.log_bytes - earlier.log_bytes,
            page_bytes: self.page_bytes - earlier.page_bytes,
            page_writes: self.page_writes - earlier.page_writes,
            read_pages: self.read_pages - earlier.read_pages,
            accesses: self.accesses - earlier.accesses,
            checkpoints: self.checkpoints - earlier.checkpoints,
        }
    }
}
