//! SQLite's order of values, whole and by 8-byte prefix.

use std::cmp::Ordering;

use inorder_engine::{Column, Value};

/// The number that orders integers without their sign.
#[inline]
pub(super) fn of_integer(value: i64) -> u64 {
    value as u64 ^ (1 << 63)
}

/// The number that orders reals: NaN, which SQLite stores as NULL, first; -0.0 equal to 0.0.
#[inline]
pub(super) fn of_real(value: f64) -> u64 {
    if value.is_nan() {
        return 0;
    }
    let bits = (value + 0.0).to_bits();
    let flips = ((bits as i64 >> 63) as u64) | (1 << 63);
    bits ^ flips
}

/// Up to 8 bytes from `offset` on as a big-endian number, padded with zeros.
#[inline]
pub(super) fn of_bytes(bytes: &[u8], offset: usize) -> u64 {
    let rest = bytes.get(offset..).unwrap_or_default();
    match rest.first_chunk::<8>() {
        Some(chunk) => u64::from_be_bytes(*chunk),
        None => {
            let mut chunk = [0; 8];
            chunk[..rest.len()].copy_from_slice(rest);
            u64::from_be_bytes(chunk)
        }
    }
}

/// The number that orders values of any kind: two bits of the kind, then the first 62 of the value.
pub(super) fn of_value(value: &Value) -> u64 {
    let (class, number) = (class(value), prefix8(value));
    class << 62 | number >> 2
}

/// NULL, number, text, blob.
fn class(value: &Value) -> u64 {
    match value {
        Value::Null => 0,
        Value::Real(real) if real.is_nan() => 0,
        Value::Integer(_) | Value::Real(_) => 1,
        Value::Text(_) => 2,
        Value::Blob(_) => 3,
    }
}

/// Numbers go by the nearest real: values of one kind that differ in this differ the same way.
fn prefix8(value: &Value) -> u64 {
    match value {
        Value::Null => 0,
        Value::Integer(integer) => of_real(*integer as f64),
        Value::Real(real) => of_real(*real),
        Value::Text(text) => of_bytes(text.as_bytes(), 0),
        Value::Blob(blob) => of_bytes(blob, 0),
    }
}

/// Two values as SQLite compares them.
pub(super) fn values(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Value::Blob(a), Value::Blob(b)) => a.cmp(b),
        _ => class(a).cmp(&class(b)).then_with(|| numbers(a, b)),
    }
}

/// Two values of any kind as far as their first 8 bytes go; numbers by their whole value.
pub(super) fn values_by_prefix(a: &Value, b: &Value) -> Ordering {
    class(a)
        .cmp(&class(b))
        .then_with(|| prefix8(a).cmp(&prefix8(b)))
        .then_with(|| numbers(a, b))
}

/// Two numbers, exactly; equal where either is none.
fn numbers(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
        (Value::Real(a), Value::Real(b)) => of_real(*a).cmp(&of_real(*b)),
        (Value::Integer(a), Value::Real(b)) => integer_with_real(*a, *b),
        (Value::Real(a), Value::Integer(b)) => integer_with_real(*b, *a).reverse(),
        _ => Ordering::Equal,
    }
}

/// Exact beyond 2^53, where an integer as a real is rounded.
fn integer_with_real(integer: i64, real: f64) -> Ordering {
    const TWO_63: f64 = 9_223_372_036_854_775_808.0;
    if real < -TWO_63 {
        Ordering::Greater
    } else if real >= TWO_63 {
        Ordering::Less
    } else {
        let fraction = real - real.trunc();
        integer
            .cmp(&(real as i64))
            .then_with(|| 0.0f64.partial_cmp(&fraction).unwrap_or(Ordering::Equal))
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
