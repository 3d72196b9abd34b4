//! SQLite's order of values, whole and by 8-byte prefix.

use std::cmp::Ordering;

use inorder_btree::Value as Stored;
use inorder_btree::record::{of_bytes, of_real};
use inorder_engine::{Column, Value};

/// The number that orders integers without their sign.
#[inline]
pub(super) fn of_integer(value: i64) -> u64 {
    value as u64 ^ (1 << 63)
}

/// A value as a record would store it.
fn stored(value: &Value) -> Stored<'_> {
    match value {
        Value::Null => Stored::Null,
        Value::Real(real) if real.is_nan() => Stored::Null,
        Value::Real(real) => Stored::Real(*real),
        Value::Integer(integer) => Stored::Integer(*integer),
        Value::Text(text) => Stored::Text(text.as_bytes()),
        Value::Blob(blob) => Stored::Blob(blob),
    }
}

/// The number that orders values of any kind.
pub(super) fn of_value(value: &Value) -> u64 {
    stored(value).prefix()
}

/// Two values as SQLite compares them.
pub(super) fn values(a: &Value, b: &Value) -> Ordering {
    stored(a).compare(&stored(b))
}

/// Two values of any kind as far as their first 8 bytes go; numbers by their whole value.
pub(super) fn values_by_prefix(a: &Value, b: &Value) -> Ordering {
    match (stored(a), stored(b)) {
        (Stored::Text(a), Stored::Text(b)) | (Stored::Blob(a), Stored::Blob(b)) => {
            of_bytes(a).cmp(&of_bytes(b))
        }
        (a, b) => a.compare(&b),
    }
}

/// Rows `i` and `j` of a column as SQLite compares them.
pub(super) fn rows(column: &Column, i: usize, j: usize) -> Ordering {
    match column {
        Column::Integers(column) => column[i].cmp(&column[j]),
        Column::Reals(column) => of_real(column[i]).cmp(&of_real(column[j])),
        Column::Fixed {
            width_bytes, bytes, ..
        } => {
            let row = |i: usize| &bytes[i * width_bytes..][..*width_bytes];
            row(i).cmp(row(j))
        }
        Column::Spans { pool, spans, .. } => span(pool, spans[i]).cmp(span(pool, spans[j])),
        Column::Any(column) => values(&column[i], &column[j]),
    }
}

/// The bytes of a span.
#[inline]
pub(super) fn span(pool: &[u8], (offset, length): (u32, u32)) -> &[u8] {
    &pool[offset as usize..][..length as usize]
}
