//! Decodes records.

use super::{Value, varint};

/// The reason why bytes are not a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// The header is longer than the bytes, or ends within a serial type.
    #[error("the header of a record does not end where it says")]
    Header,
    /// A serial type that SQLite reserves (10 or 11).
    #[error("a record has the reserved serial type {0}")]
    SerialType(u64),
    /// The length of the body is not that of the values.
    #[error("the values of a record take {needed} bytes, it has {present}")]
    Body {
        /// Bytes that the serial types ask for.
        needed: u64,
        /// Bytes after the header.
        present: u64,
    },
}

/// A well-formed record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    bytes: &'a [u8],
}

impl<'a> Record<'a> {
    /// Checks that `bytes` are exactly one record.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if they are not.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let (types, body) = split(bytes).ok_or(Malformed::Header)?;
        let (mut at, mut needed) = (0, 0u64);
        while at < types.len() {
            let (serial_type, read) = varint::read(&types[at..]).ok_or(Malformed::Header)?;
            if matches!(serial_type, 10 | 11) {
                return Err(Malformed::SerialType(serial_type));
            }
            at += read;
            needed = needed.saturating_add(body_bytes(serial_type));
        }
        let present = body.len() as u64;
        if needed != present {
            return Err(Malformed::Body { needed, present });
        }
        Ok(Record { bytes })
    }

    /// Returns the bytes.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the values in order.
    #[must_use]
    pub fn values(&self) -> Values<'a> {
        Values::new(self.bytes)
    }

    /// Returns the value at an index from 0; `None` past the last.
    #[must_use]
    pub fn value(&self, index: usize) -> Option<Value<'a>> {
        self.values().nth(index)
    }
}

/// The values of a record. On malformed bytes the iteration ends early; it never panics.
#[derive(Debug, Clone)]
pub struct Values<'a> {
    types: &'a [u8],
    body: &'a [u8],
}

impl<'a> Values<'a> {
    #[inline]
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let (types, body) = split(bytes).unwrap_or_default();
        Values { types, body }
    }

    /// Bytes of the values to come.
    #[inline]
    pub(super) fn body_bytes(&self) -> usize {
        self.body.len()
    }

    /// Bytes of the serial types of the values to come.
    #[inline]
    pub(super) fn types_bytes(&self) -> usize {
        self.types.len()
    }

    /// The next value's serial type and bytes.
    #[inline]
    pub(super) fn next_raw(&mut self) -> Option<(u64, &'a [u8])> {
        let (serial_type, read) = varint::read(self.types)?;
        let bytes = usize::try_from(body_bytes(serial_type)).ok()?;
        let (value, rest) = self.body.split_at_checked(bytes)?;
        self.types = &self.types[read..];
        self.body = rest;
        Some((serial_type, value))
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<Value<'a>> {
        let (serial_type, bytes) = self.next_raw()?;
        Some(value_of(serial_type, bytes))
    }
}

/// The serial types and the body.
#[inline]
pub(super) fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (header_bytes, read) = varint::read(bytes)?;
    let (header, body) = bytes.split_at_checked(usize::try_from(header_bytes).ok()?)?;
    Some((header.get(read..)?, body))
}

/// Bytes of the body that a value of this serial type takes.
#[inline]
pub(super) const fn body_bytes(serial_type: u64) -> u64 {
    match serial_type {
        0 | 8..=11 => 0,
        1..=4 => serial_type,
        5 => 6,
        6 | 7 => 8,
        _ => (serial_type - 12) / 2,
    }
}

/// Bytes of the body for each serial type of one byte.
pub(super) const BODY_BYTES: [u8; 0x80] = {
    let mut bytes = [0; 0x80];
    let mut serial_type = 0;
    while serial_type < bytes.len() {
        bytes[serial_type] = body_bytes(serial_type as u64) as u8;
        serial_type += 1;
    }
    bytes
};

/// The value of a serial type and the bytes it asks for.
#[inline(always)]
pub(super) fn value_of(serial_type: u64, bytes: &[u8]) -> Value<'_> {
    match serial_type {
        1..=6 => Value::Integer(integer(bytes)),
        7 => match f64::from_bits(integer(bytes) as u64) {
            real if real.is_nan() => Value::Null,
            real => Value::Real(real),
        },
        8 => Value::Integer(0),
        9 => Value::Integer(1),
        0 | 10 | 11 => Value::Null,
        _ if serial_type % 2 == 1 => Value::Text(bytes),
        _ => Value::Blob(bytes),
    }
}

/// A big-endian number of 1 to 4, 6 or 8 bytes, its sign extended.
#[inline]
pub(super) fn integer(bytes: &[u8]) -> i64 {
    match *bytes {
        [a] => i64::from(a as i8),
        [a, b] => i64::from(i16::from_be_bytes([a, b])),
        [a, b, c] => i64::from(i32::from_be_bytes([a, b, c, 0]) >> 8),
        [a, b, c, d] => i64::from(i32::from_be_bytes([a, b, c, d])),
        [a, b, c, d, e, f] => i64::from_be_bytes([a, b, c, d, e, f, 0, 0]) >> 16,
        [a, b, c, d, e, f, g, h] => i64::from_be_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    }
}
