//! Bytes of InnoDB's records in the row format DYNAMIC:
//! <https://mariadb.com/kb/en/innodb-dynamic-row-format/>.

use crate::columns::Values;
use crate::question::{Layout, Question};
use inorder_key::{Encoding, KeyKind};

/// Bytes of a page that records don't use: headers, the two system records, trailer, and two slots of the directory.
const PAGE_BYTES_LOST: u64 = 132;
/// Bytes of the header of a record, of the hidden columns `DB_TRX_ID` and `DB_ROLL_PTR`, of a hidden row id, of the number of a page.
const HEADER: u64 = 5;
const HIDDEN: u64 = 13;
const ROW_ID: u64 = 6;
const CHILD: u64 = 4;
/// Longer values have a length of two bytes.
const SHORT_BYTES_MAX: u64 = 127;

/// Bytes of a page for records and further slots of the directory.
pub(super) fn room(page_bytes: u64) -> u64 {
    page_bytes - PAGE_BYTES_LOST
}

/// Bytes of a value with its length.
fn stored(values: Values) -> u64 {
    let length = match values {
        Values::Integer | Values::Fixed(_) => 0,
        Values::Bytes(0..=SHORT_BYTES_MAX) => 1,
        Values::Bytes(_) => 2,
    };
    length + values.bytes()
}

/// The records of an index, on leaf pages and above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) leaf: u64,
    pub(super) interior: u64,
}

/// The records of a question's table.
#[derive(Clone, Debug)]
pub(super) struct Records {
    /// Whether the table is a tree by its key, and not by a hidden row id.
    pub(super) is_by_key: bool,
    /// The clustered index.
    pub(super) clustered: Entry,
    /// Bytes of the clustered index's key.
    pub(super) primary: u64,
    /// The index on the key, where that is not the clustered one.
    pub(super) key: Option<Entry>,
    /// The secondary indexes.
    pub(super) secondary: Vec<Entry>,
}

impl Records {
    pub(super) fn of(question: &Question) -> Self {
        let is_composite = question.key == KeyKind::Composite;
        let key = question.key_bytes();
        let is_integer = question.encoding == Encoding::Integer && !is_composite;
        let is_by_key = match question.layout {
            Layout::WithoutRowid => true,
            Layout::Rowid => is_integer,
            Layout::NoKey => false,
        };
        // The columns of a unique key that is not the primary one may be NULL.
        let is_null_key = question.layout == Layout::Rowid && !is_by_key;
        let nullable_key = match (is_null_key, is_composite) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => 2,
        };
        let nullable = nullable_key + u64::from(question.payload_bytes > 0);
        let payload = match question.payload_bytes {
            0 => 0,
            bytes => stored(Values::Bytes(bytes)),
        };
        let primary = if is_by_key { key } else { ROW_ID };
        let columns = question.columns.iter().map(|&values| stored(values));
        let values = key + payload + columns.sum::<u64>();
        let row_id = if is_by_key { 0 } else { ROW_ID };
        let entry = |bytes: u64| Entry {
            leaf: bytes,
            interior: bytes + CHILD,
        };
        Records {
            is_by_key,
            clustered: Entry {
                leaf: HEADER + nullable.div_ceil(8) + row_id + HIDDEN + values,
                interior: HEADER + primary + CHILD,
            },
            primary,
            key: is_null_key.then(|| entry(HEADER + 1 + key + ROW_ID)),
            secondary: (question.indexes.iter())
                .map(|index| {
                    let values = index.values.iter().map(|&values| stored(values));
                    entry(HEADER + values.sum::<u64>() + primary)
                })
                .collect(),
        }
    }
}
