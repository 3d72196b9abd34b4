//! Makes records from the values of another record, without decoding them.

use super::read::{BODY_BYTES, Values, body_bytes, split, value_of};
use super::write::{header_bytes, push_body, serial_type};
use super::{Value, varint};

/// A value of the new record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pick {
    /// The value at this index of the other record; NULL past its end.
    Value(usize),
    /// NULL.
    Null,
    /// This integer.
    Integer(i64),
}

/// The places of the values of a record: read once, they serve to make several records.
///
/// ```
/// use inorder_btree::{Value, record::{self, Fields, Pick, Record}};
///
/// let (mut row, mut entry, mut fields) = (Vec::new(), Vec::new(), Fields::default());
/// record::encode(&[Value::Integer(7), Value::Text(b"Alien")], &mut row);
/// fields.read(&row);
/// fields.write(&row, [Pick::Value(1), Pick::Integer(7)], &mut entry);
/// let values: Vec<_> = Record::parse(&entry).unwrap().values().collect();
/// assert_eq!(values, [Value::Text(b"Alien"), Value::Integer(7)]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Fields {
    /// The first `count` are those of the record. The others are kept: writing to them needs no check for room.
    fields: Vec<Field>,
    count: usize,
}

/// A value's serial type and place. Records are shorter than 4 GiB, and so is twice the length of a value in them.
#[derive(Debug, Clone, Copy, Default)]
struct Field {
    serial_type: u32,
    start: u32,
    end: u32,
}

impl Field {
    #[inline(always)]
    fn bytes(self, record: &[u8]) -> &[u8] {
        &record[self.start as usize..self.end as usize]
    }
}

impl Fields {
    /// Reads the places of the values of a record.
    #[inline]
    pub fn read(&mut self, record: &[u8]) {
        let header = record.first().map_or(0, |bytes| usize::from(*bytes));
        let types = record.get(1..header).filter(|_| header < 0x80);
        if !types.is_some_and(|types| self.read_short(types, header as u32, record.len())) {
            self.read_long(record);
        }
    }

    /// Reads a record whose serial types take one or two bytes each; false where one takes more, or the record is
    /// malformed.
    #[inline]
    fn read_short(&mut self, mut types: &[u8], mut start: u32, record_bytes: usize) -> bool {
        if self.fields.len() < types.len() {
            self.fields.resize(types.len(), Field::default());
        }
        self.count = 0;
        for field in &mut self.fields {
            let [first, rest @ ..] = types else {
                break;
            };
            types = rest;
            let mut serial_type = u32::from(*first);
            let bytes = match BODY_BYTES.get(usize::from(*first)) {
                Some(bytes) => u32::from(*bytes),
                None => {
                    let [second @ ..0x80, rest @ ..] = types else {
                        return false;
                    };
                    types = rest;
                    serial_type = (serial_type & 0x7f) << 7 | u32::from(*second);
                    body_bytes(u64::from(serial_type)) as u32
                }
            };
            *field = Field {
                serial_type,
                start,
                end: start + bytes,
            };
            start += bytes;
            self.count += 1;
        }
        start as usize <= record_bytes
    }

    fn read_long(&mut self, record: &[u8]) {
        self.fields.clear();
        let mut values = Values::new(record);
        let mut start = record.len() - values.body_bytes();
        while let Some((serial_type, bytes)) = values.next_raw() {
            let end = start + bytes.len();
            self.fields.push(Field {
                serial_type: serial_type as u32,
                start: start as u32,
                end: end as u32,
            });
            start = end;
        }
        self.count = self.fields.len();
    }

    /// The fields of the record.
    #[inline(always)]
    fn all(&self) -> &[Field] {
        &self.fields[..self.count]
    }

    /// The values of `record`, which must be the one read last; `None` where there are bytes after them.
    #[inline]
    #[must_use]
    pub fn values<'a>(&self, record: &'a [u8]) -> Option<impl Iterator<Item = Value<'a>>> {
        let end = self.all().last().map(|field| field.end as usize);
        let is_whole = end.is_none_or(|end| end == record.len());
        let value = |field: &Field| value_of(u64::from(field.serial_type), field.bytes(record));
        is_whole.then(|| self.all().iter().map(value))
    }

    /// Returns a value of `record`, which must be the one read last; `None` past its end.
    #[inline(always)]
    #[must_use]
    pub fn value<'a>(&self, record: &'a [u8], index: usize) -> Option<Value<'a>> {
        let field = self.all().get(index)?;
        Some(value_of(u64::from(field.serial_type), field.bytes(record)))
    }

    /// Whether the value at this index is NULL, or past the end.
    #[inline]
    #[must_use]
    pub fn is_null(&self, index: usize) -> bool {
        let serial_type = self.all().get(index).map_or(0, |field| field.serial_type);
        matches!(serial_type, 0 | 10 | 11)
    }

    /// Appends a record with values of `record`, which must be the one read last.
    #[inline]
    pub fn write<P>(&self, record: &[u8], picks: P, out: &mut Vec<u8>)
    where
        P: IntoIterator<Item = Pick, IntoIter: Clone>,
    {
        let picks = picks.into_iter();
        let types_bytes = picks
            .clone()
            .map(|pick| varint::len(self.serial_type(pick)));
        varint::push(header_bytes(types_bytes.sum()) as u64, out);
        for pick in picks.clone() {
            varint::push(self.serial_type(pick), out);
        }
        for pick in picks {
            match pick {
                Pick::Value(index) => {
                    let bytes = self.all().get(index).map(|field| field.bytes(record));
                    out.extend_from_slice(bytes.unwrap_or_default());
                }
                Pick::Null => {}
                Pick::Integer(integer) => push_body(&Value::Integer(integer), out),
            }
        }
    }

    /// Appends a record with the first values of `record`, which must be the one read last. Returns false, and appends
    /// nothing, where a serial type takes more than a byte or there are fewer values.
    #[inline]
    #[must_use]
    pub fn write_first(&self, record: &[u8], count: usize, out: &mut Vec<u8>) -> bool {
        let Some(last) = count.checked_sub(1).and_then(|last| self.all().get(last)) else {
            return false;
        };
        let body = self.all()[0].start as usize;
        // One byte for the length of the header, and one for each type.
        if body != 1 + self.all().len() || body >= 0x80 {
            return false;
        }
        out.push(1 + count as u8);
        out.extend_from_slice(&record[1..=count]);
        out.extend_from_slice(&record[body..last.end as usize]);
        true
    }

    #[inline]
    fn serial_type(&self, pick: Pick) -> u64 {
        match pick {
            Pick::Value(index) => {
                let field = self.all().get(index);
                field.map_or(0, |field| u64::from(field.serial_type))
            }
            Pick::Null => 0,
            Pick::Integer(integer) => serial_type(&Value::Integer(integer)),
        }
    }
}

/// Appends the record of the first `count` values of a record and all values of another. Returns false where the first
/// has fewer, or one of them is malformed.
#[inline]
#[must_use]
pub fn join(first: &[u8], count: usize, second: &[u8], out: &mut Vec<u8>) -> bool {
    let (Some((types, body)), Some((more_types, more_body))) = (split(first), split(second)) else {
        return false;
    };
    let mut values = Values::new(first);
    if (0..count).any(|_| values.next_raw().is_none()) {
        return false;
    }
    let body = &body[..body.len() - values.body_bytes()];
    let types = &types[..types.len() - values.types_bytes()];
    varint::push(header_bytes(types.len() + more_types.len()) as u64, out);
    for part in [types, more_types, body, more_body] {
        out.extend_from_slice(part);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::encode;

    #[test]
    fn the_first_values_are_those_that_are_picked() {
        let (short, long) = (vec![b'x'; 40], vec![b'x'; 300]);
        let values = [
            Value::Integer(7),
            Value::Text(&short),
            Value::Null,
            Value::Blob(&long),
            Value::Real(0.5),
        ];
        let mut fields = Fields::default();
        for to in 0..=values.len() {
            for from in 0..=to {
                let mut record = Vec::new();
                encode(&values[from..to], &mut record);
                fields.read(&record);
                for count in 0..values.len() + 2 {
                    let (mut first, mut picked) = (vec![9], vec![9]);
                    let is_written = fields.write_first(&record, count, &mut first);
                    fields.write(&record, (0..count).map(Pick::Value), &mut picked);
                    let has_long = (from..to).contains(&3);
                    assert_eq!(is_written, !has_long && (1..=to - from).contains(&count));
                    assert_eq!(first, if is_written { picked } else { vec![9] });
                }
            }
        }
    }

    #[test]
    fn the_first_values_of_malformed_records_are_none_or_some() {
        let mut fields = Fields::default();
        for record in [
            &[][..],
            &[0],
            &[9, 1, 1],
            &[3, 1],
            &[2, 200, 1],
            &[3, 1, 1, 5],
        ] {
            fields.read(record);
            for count in 0..4 {
                _ = fields.write_first(record, count, &mut Vec::new());
            }
        }
    }
}
