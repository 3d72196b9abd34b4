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

/// Encodes records value by value, so that no value is kept until all are known.
///
/// A header has the length of the one before until its end shows another: then the values behind it move.
///
/// ```
/// use inorder_btree::{Value, record::{self, Writer}};
///
/// let (mut writer, mut written, mut encoded) = (Writer::default(), Vec::new(), Vec::new());
/// let values = [Value::Integer(7), Value::Text(b"Alien")];
/// writer.begin(&mut written);
/// for value in &values {
///     writer.push(value, &mut written);
/// }
/// writer.end(&mut written);
/// record::encode(&values, &mut encoded);
/// assert_eq!(written, encoded);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Writer {
    /// The serial types of the record that is written.
    types: Vec<u8>,
    /// Where it begins.
    start: usize,
    /// The bytes that its header is expected to take.
    header_bytes: usize,
}

impl Writer {
    /// Begins a record at the end of `out`. One that was begun before and not ended is forgotten.
    #[inline]
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        self.types.clear();
        self.start = out.len();
        out.resize(self.start + self.header_bytes, 0);
    }

    /// Adds a value.
    #[inline]
    pub fn push(&mut self, value: &Value<'_>, out: &mut Vec<u8>) {
        varint::push(serial_type(value), &mut self.types);
        push_body(value, out);
    }

    /// Ends the record.
    // Once per record, in the loop that encodes it.
    #[inline(always)]
    pub fn end(&mut self, out: &mut Vec<u8>) {
        let bytes = header_bytes(self.types.len());
        if bytes != self.header_bytes {
            self.move_body(bytes, out);
        }
        let header = &mut out[self.start..self.start + bytes];
        let length_bytes = varint::write(bytes as u64, header);
        header[length_bytes..].copy_from_slice(&self.types);
    }

    /// Makes room for a header of so many bytes.
    #[cold]
    fn move_body(&mut self, bytes: usize, out: &mut Vec<u8>) {
        let (body, end) = (self.start + self.header_bytes, out.len());
        out.resize(end.max(end + bytes - self.header_bytes), 0);
        out.copy_within(body..end, self.start + bytes);
        out.truncate(end + bytes - self.header_bytes);
        self.header_bytes = bytes;
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
