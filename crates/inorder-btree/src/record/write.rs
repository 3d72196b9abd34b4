//! Encodes records.

use super::{SIX_BYTES_MAX, Value, magnitude, varint};

/// Appends the record of `values` to `out`. Integers take the fewest bytes, 0 and 1 none.
#[inline]
pub fn encode<'v, V>(values: V, out: &mut Vec<u8>)
where
    V: IntoIterator<Item = &'v Value<'v>, IntoIter: Clone>,
{
    let values = values.into_iter();
    let (mut types_bytes, mut body_bytes) = (0, 0);
    for value in values.clone() {
        types_bytes += varint::len(serial_type(value));
        body_bytes += body_bytes_of(value);
    }
    let header_bytes = header_bytes(types_bytes);
    out.reserve(header_bytes + body_bytes);
    varint::push(header_bytes as u64, out);
    for value in values.clone() {
        varint::push(serial_type(value), out);
    }
    for value in values {
        push_body(value, out);
    }
}

/// Returns the size of a header, including its length field, from the size of its serial types.
#[inline]
pub(super) fn header_bytes(types_bytes: usize) -> usize {
    let bytes = types_bytes + varint::len(types_bytes as u64);
    types_bytes + varint::len(bytes as u64)
}

#[inline]
pub(super) fn serial_type(value: &Value) -> u64 {
    match value {
        Value::Null => 0,
        Value::Integer(0) => 8,
        Value::Integer(1) => 9,
        Value::Integer(integer) => match integer_bytes(*integer) {
            6 => 5,
            8 => 6,
            bytes => bytes as u64,
        },
        Value::Real(real) if real.is_nan() => 0,
        Value::Real(_) => 7,
        Value::Text(text) => 13 + 2 * text.len() as u64,
        Value::Blob(blob) => 12 + 2 * blob.len() as u64,
    }
}

#[inline]
fn body_bytes_of(value: &Value) -> usize {
    match value {
        Value::Null | Value::Integer(0 | 1) => 0,
        Value::Integer(integer) => integer_bytes(*integer),
        Value::Real(real) if real.is_nan() => 0,
        Value::Real(_) => 8,
        Value::Text(bytes) | Value::Blob(bytes) => bytes.len(),
    }
}

/// The bytes of an integer other than 0 and 1.
#[inline]
fn integer_bytes(integer: i64) -> usize {
    match magnitude(integer) {
        0..=0x7f => 1,
        0x80..=0x7fff => 2,
        0x8000..=0x7f_ffff => 3,
        0x80_0000..=0x7fff_ffff => 4,
        0x8000_0000..=SIX_BYTES_MAX => 6,
        _ => 8,
    }
}

#[inline]
pub(super) fn push_body(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null | Value::Integer(0 | 1) => {}
        Value::Integer(integer) => {
            out.extend_from_slice(&integer.to_be_bytes()[8 - integer_bytes(*integer)..]);
        }
        Value::Real(real) if real.is_nan() => {}
        Value::Real(real) => out.extend_from_slice(&real.to_bits().to_be_bytes()),
        Value::Text(bytes) | Value::Blob(bytes) => out.extend_from_slice(bytes),
    }
}
