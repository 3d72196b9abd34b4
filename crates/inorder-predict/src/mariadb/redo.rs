//! InnoDB's redo log, and when it asks for changed pages to be written: `mtr0log.h`, `log0log.cc` of MariaDB 10.11.
//!
//! The bytes of records beside their data were measured with `Innodb_lsn_current`.

use crate::arrivals::Order;
use inorder_key::{Encoding, KeyKind};

/// Bytes beside the data: a row in the clustered index with its undo record, an entry of another index or a node pointer, a new page,
/// moving entries to it, a commit, freeing the undo pages of a transaction, an undo page.
const ROW: f64 = 27.0;
const ENTRY: f64 = 14.7;
const NEW_PAGE: f64 = 40.0;
const MOVE: f64 = 170.0;
const COMMIT: f64 = 130.0;
/// Bytes of the file's header.
const FILE_HEADER: f64 = 12_288.0;
/// Bytes of the log that are freed at once (`log_checkpoint_margin`).
const STEP: u64 = 1 << 20;
/// Pages whose size the log keeps free.
const MARGIN_PAGES: f64 = 48.0;

/// Bytes that the key of an entry shares with the one before it, which the log leaves out. `rows` is the number of rows.
pub(super) fn shared_bytes(kind: KeyKind, encoding: Encoding, rows: f64) -> f64 {
    // Bytes of random keys that are equal where so many are sorted.
    let bits_per_byte: f64 = match encoding {
        Encoding::Text | Encoding::Hex => 4.0,
        _ => 8.0,
    };
    match kind {
        kind if kind.is_ordered() && encoding == Encoding::Integer => 7.0,
        // Keys of one millisecond count.
        KeyKind::Ulid => 120.0 / bits_per_byte,
        kind if kind.is_ordered() => 60.0 / bits_per_byte,
        KeyKind::Composite => 15.0,
        _ => rows.max(1.0).log2() / bits_per_byte,
    }
}

/// Bytes that values of a secondary index share with those of the entry before, where so many bytes are sorted.
pub(super) fn shared_values(order: Order, bytes: u64, rows: f64) -> f64 {
    let bytes = bytes as f64;
    match order {
        Order::Random => (rows.max(1.0).log2() / 8.0).min(bytes),
        // The last bytes of a time differ.
        Order::Ascending => bytes * 0.75,
        Order::Buckets(_) => bytes,
    }
}

/// The log.
#[derive(Clone, Debug)]
pub(super) struct Redo {
    bytes: f64,
    /// Bytes since the oldest change that is not written, above which all changed pages are written.
    age_max: f64,
}

impl Redo {
    /// A log in a file of so many bytes.
    pub(super) fn new(file_bytes: u64, page_bytes: u64) -> Self {
        let capacity = (file_bytes as f64 - FILE_HEADER) * 0.9;
        Redo {
            bytes: 0.0,
            age_max: ((capacity - MARGIN_PAGES * page_bytes as f64) * 0.9).max(1.0),
        }
    }

    /// Bytes written since the load began.
    pub(super) fn bytes(&self) -> f64 {
        self.bytes
    }

    /// The position, above 0.
    pub(super) fn position(&self) -> u64 {
        self.bytes as u64 + 1
    }

    /// The position up to which changed pages have to be written, if the oldest change is too old.
    pub(super) fn due(&self, oldest_change: u64) -> Option<u64> {
        let is_due = self.bytes - oldest_change as f64 > self.age_max;
        is_due.then_some(oldest_change + STEP)
    }

    /// A row in the clustered index, and its undo record with the key.
    pub(super) fn row(&mut self, record: u64, key: u64, shared: f64) {
        self.bytes += ROW + (record + key) as f64 - shared;
    }

    /// An entry in another index, or a node pointer.
    pub(super) fn entry(&mut self, record: u64, shared: f64, weight: u32) {
        self.bytes += (ENTRY + record as f64 - shared) * f64::from(weight);
    }

    /// A new page to which so many entries are moved.
    pub(super) fn split(&mut self, moved: usize, record: u64, weight: u32) {
        let moving = match moved {
            0 => 0.0,
            moved => MOVE + moved as f64 * record as f64,
        };
        self.bytes += (NEW_PAGE + moving) * f64::from(weight);
    }

    /// The end of a transaction.
    pub(super) fn commit(&mut self) {
        self.bytes += COMMIT;
    }
}
