//! Bytes of PostgreSQL's heap and index tuples:
//! <https://www.postgresql.org/docs/15/storage-page-layout.html>.

use crate::columns::Values;
use crate::question::{Layout, Question};
use inorder_key::{Encoding, KeyKind};

/// Bytes of a page's header, and of the special space of an index page.
pub(super) const PAGE_HEADER: u64 = 24;
pub(super) const SPECIAL: u64 = 16;
/// Bytes of the pointer to a tuple.
pub(super) const POINTER: u64 = 4;
/// Bytes of the header of a heap tuple without NULLs, aligned, and as the log has it.
const HEAP_HEADER: u64 = 24;
const HEAP_HEADER_EXACT: u64 = 23;
/// Bytes of the header of an index tuple.
const INDEX_HEADER: u64 = 8;
/// Longer values have a header of four bytes, which is aligned.
const SHORT_BYTES_MAX: u64 = 126;
/// Larger tuples are stored elsewhere in part (TOAST).
pub(super) const TOAST_BYTES: u64 = 2032;

/// A column's value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    /// A 64-bit integer.
    Integer,
    /// So many bytes. Two and four are aligned.
    Fixed(u64),
    /// So many bytes of text or blob.
    Bytes(u64),
}

impl Value {
    fn of(values: Values) -> Self {
        match values {
            Values::Integer => Value::Integer,
            Values::Fixed(bytes) => Value::Fixed(bytes),
            Values::Bytes(bytes) => Value::Bytes(bytes),
        }
    }
}

/// Rounds up to a multiple of eight.
pub(super) fn aligned(bytes: u64) -> u64 {
    bytes.next_multiple_of(8)
}

/// Appends a value to a tuple of so many bytes.
fn append(bytes: u64, value: Value) -> u64 {
    match value {
        Value::Integer => aligned(bytes) + 8,
        Value::Fixed(length @ (2 | 4)) => bytes.next_multiple_of(length) + length,
        Value::Fixed(length) => bytes + length,
        Value::Bytes(length) if length <= SHORT_BYTES_MAX => bytes + 1 + length,
        Value::Bytes(length) => bytes.next_multiple_of(4) + 4 + length,
    }
}

/// Bytes of a tuple of an index, aligned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct IndexTuple {
    /// On a leaf page, with included columns.
    pub(super) leaf: u64,
    /// Above, without them.
    pub(super) interior: u64,
}

impl IndexTuple {
    fn of(key: &[Value], included: &[Values]) -> Self {
        let all: Vec<Value> = key
            .iter()
            .copied()
            .chain(included.iter().map(|&values| Value::of(values)))
            .collect();
        IndexTuple {
            leaf: aligned(sum(INDEX_HEADER, &all)),
            interior: aligned(sum(INDEX_HEADER, key)),
        }
    }
}

/// Bytes of a header and these values.
fn sum(header: u64, values: &[Value]) -> u64 {
    values.iter().fold(header, |sum, &value| append(sum, value))
}

/// The tuples of a question's table.
#[derive(Clone, Debug)]
pub(super) struct Tuples {
    /// Bytes of a heap tuple, not aligned.
    pub(super) heap: u64,
    /// A tuple of the index on the key.
    pub(super) key: Option<IndexTuple>,
    /// A tuple of each secondary index.
    pub(super) secondary: Vec<IndexTuple>,
    /// Whether a column may be stored elsewhere, so that the table has a TOAST table.
    pub(super) has_toast: bool,
    /// Percent of a heap page that inserts fill.
    fill_percent: u32,
}

impl Tuples {
    pub(super) fn of(question: &Question) -> Self {
        let key = match (question.key, question.encoding) {
            (KeyKind::Composite, _) => vec![Value::Integer, Value::Integer],
            (_, Encoding::Integer) => vec![Value::Integer],
            (_, Encoding::Native) => vec![Value::Fixed(16)],
            (kind, encoding) => {
                vec![Value::Bytes(kind.width_bytes(encoding).unwrap_or(8) as u64)]
            }
        };
        let mut columns = key.clone();
        if question.payload_bytes > 0 {
            columns.push(Value::Bytes(question.payload_bytes));
        }
        columns.extend(question.columns.iter().map(|&values| Value::of(values)));
        let is_bytes = |value: &Value| matches!(value, Value::Bytes(_));
        Tuples {
            heap: sum(HEAP_HEADER, &columns),
            key: (question.layout != Layout::NoKey)
                .then(|| IndexTuple::of(&key, &question.key_included)),
            secondary: (question.indexes.iter())
                .map(|index| {
                    let values: Vec<Value> = index.values.iter().map(|&v| Value::of(v)).collect();
                    IndexTuple::of(&values, &index.included)
                })
                .collect(),
            fill_percent: question.fill_percent.unwrap_or(100),
            has_toast: columns.iter().any(is_bytes),
        }
    }

    /// Rows of a heap page that inserts have filled (`RelationGetBufferForTuple`).
    pub(super) fn rows_per_page(&self, page_bytes: u64) -> u64 {
        let reserve = page_bytes * u64::from(100 - self.fill_percent.min(100)) / 100;
        let room = (page_bytes - PAGE_HEADER).saturating_sub(reserve);
        (room / (aligned(self.heap) + POINTER)).max(1)
    }

    /// Bytes of a heap tuple in the log.
    pub(super) fn logged(&self) -> u64 {
        // The log has five bytes of the header.
        self.heap - HEAP_HEADER_EXACT + 5
    }
}
