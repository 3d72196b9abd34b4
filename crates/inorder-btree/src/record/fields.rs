//! Makes records from the values of another record, without decoding them.

use std::ops::Range;

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
    /// First the end of the header, then the fields of the record: `count` in all. The others are kept: writing to them
    /// needs no check for room.
    ends: Vec<Field>,
    count: usize,
}

/// A value's serial type, and where it ends: the next one begins there. Records are shorter than 4 GiB, and so is twice
/// the length of a value in them.
#[derive(Debug, Clone, Copy, Default)]
struct Field {
    serial_type: u32,
    end: u32,
}

impl Fields {
    /// Reads the places of the values of a record.
    #[inline]
    pub fn read(&mut self, record: &[u8]) {
        self.read_first(record, usize::MAX);
    }

    /// Reads the places of the first `count_max` values of a record, as if it had no others.
    #[inline(always)]
    pub fn read_first(&mut self, record: &[u8], count_max: usize) {
        let header = record.first().map_or(0, |bytes| usize::from(*bytes));
        let types = record.get(1..header).filter(|_| header < 0x80);
        let is_read = types.is_some_and(|types| self.read_short(types, count_max) <= record.len());
        if !is_read {
            self.read_long(record, count_max);
        }
    }

    /// Reads serial types that take one or two bytes each. Returns the length of a record that has these values;
    /// `usize::MAX` where one takes more.
    #[inline(always)]
    fn read_short(&mut self, types: &[u8], count_max: usize) -> usize {
        if self.ends.len() <= types.len() {
            self.make_room();
        }
        let mut end = types.len() as u32 + 1;
        let (mut at, mut count) = (0, 1);
        let room = types.len().min(count_max);
        self.ends[0].end = end;
        for field in &mut self.ends[1..=room] {
            let Some(first) = types.get(at) else {
                break;
            };
            at += 1;
            let mut serial_type = u32::from(*first);
            end += match BODY_BYTES.get(usize::from(*first)) {
                Some(bytes) => u32::from(*bytes),
                None => {
                    let Some(second @ ..0x80) = types.get(at) else {
                        return usize::MAX;
                    };
                    at += 1;
                    serial_type = (serial_type & 0x7f) << 7 | u32::from(*second);
                    body_bytes(u64::from(serial_type)) as u32
                }
            };
            *field = Field { serial_type, end };
            count += 1;
        }
        self.count = count;
        end as usize
    }

    /// Makes room for the fields of any header whose length takes a byte.
    #[cold]
    fn make_room(&mut self) {
        self.ends.resize(0x80, Field::default());
    }

    #[cold]
    fn read_long(&mut self, record: &[u8], count_max: usize) {
        let mut values = Values::new(record);
        let mut end = (record.len() - values.body_bytes()) as u32;
        self.ends.clear();
        self.ends.push(Field {
            serial_type: 0,
            end,
        });
        while self.ends.len() <= count_max
            && let Some((serial_type, bytes)) = values.next_raw()
        {
            end += bytes.len() as u32;
            self.ends.push(Field {
                serial_type: serial_type as u32,
                end,
            });
        }
        self.count = self.ends.len();
    }

    /// The serial type of a value, where it begins and where it ends.
    #[inline(always)]
    fn place(&self, index: usize) -> Option<(u32, usize, usize)> {
        let [before, field] = self.ends[..self.count].get(index..)?.first_chunk()?;
        Some((field.serial_type, before.end as usize, field.end as usize))
    }

    /// The values of `record`, which must be the one read last, and whole; `None` where there are bytes after them.
    #[inline]
    #[must_use]
    pub fn values<'a>(&self, record: &'a [u8]) -> Option<impl Iterator<Item = Value<'a>>> {
        let ends = &self.ends[..self.count];
        let is_whole = ends
            .last()
            .is_none_or(|last| last.end as usize == record.len());
        let value = |pair: &[Field]| {
            let (start, end) = (pair[0].end as usize, pair[1].end as usize);
            value_at(record, pair[1].serial_type, start, end)
        };
        is_whole.then(|| ends.windows(2).map(value))
    }

    /// Returns a value of `record`, which must be the one read last; `None` past its end.
    #[inline(always)]
    #[must_use]
    pub fn value<'a>(&self, record: &'a [u8], index: usize) -> Option<Value<'a>> {
        let (serial_type, start, end) = self.place(index)?;
        Some(value_at(record, serial_type, start, end))
    }

    /// The serial type of a value, as it is encoded; that of NULL past the end.
    #[inline(always)]
    #[must_use]
    pub fn serial_type_at(&self, index: usize) -> u32 {
        self.place(index).map_or(0, |(serial_type, ..)| serial_type)
    }

    /// The bytes of some values of `record`, which must be the one read last; of those that it has.
    #[inline]
    #[must_use]
    pub fn body<'a>(&self, record: &'a [u8], values: Range<usize>) -> &'a [u8] {
        let ends = &self.ends[..self.count];
        let place = |index: usize| {
            ends.get(index)
                .or(ends.last())
                .map_or(0, |at| at.end as usize)
        };
        &record[place(values.start)..place(values.end)]
    }

    /// Where the last value ends that was read.
    #[inline]
    #[must_use]
    pub fn end(&self) -> usize {
        let last = self.ends[..self.count].last();
        last.map_or(0, |last| last.end as usize)
    }

    /// Whether the value at this index is NULL, or past the end.
    #[inline]
    #[must_use]
    pub fn is_null(&self, index: usize) -> bool {
        matches!(self.serial_type_at(index), 0 | 10 | 11)
    }

    /// Appends a record with values of `record`, which must be the one read last.
    #[inline]
    pub fn write<P>(&self, record: &[u8], picks: P, out: &mut Vec<u8>)
    where
        P: IntoIterator<Item = Pick, IntoIter: Clone>,
    {
        self.write_after(&[], [0..0, 0..0], record, picks, out);
    }

    /// Appends a record with the values that have these serial types and this body, which are places in `before`, and then
    /// values of `record`, which must be the one read last.
    #[inline]
    pub fn write_after<P>(
        &self,
        before: &[u8],
        [types, body]: [Range<usize>; 2],
        record: &[u8],
        picks: P,
        out: &mut Vec<u8>,
    ) where
        P: IntoIterator<Item = Pick, IntoIter: Clone>,
    {
        let picks = picks.into_iter();
        let picked_types = picks
            .clone()
            .map(|pick| varint::len(self.serial_type(pick)));
        let types_bytes = types.len() + picked_types.sum::<usize>();
        varint::push(header_bytes(types_bytes) as u64, out);
        append(before, types, out);
        for pick in picks.clone() {
            varint::push(self.serial_type(pick), out);
        }
        append(before, body, out);
        for pick in picks {
            match pick {
                Pick::Value(index) => {
                    if let Some((_, start, end)) = self.place(index) {
                        append(record, start..end, out);
                    }
                }
                Pick::Null => {}
                Pick::Integer(integer) => push_body(&Value::Integer(integer), out),
            }
        }
    }

    /// Appends `record`, which must be the one read last, with NULL in the place of a value whose serial type takes a byte.
    /// Returns false, and appends nothing, where there is no such value, or a serial type before it takes more than a byte.
    #[inline]
    #[must_use]
    pub fn write_with_null(&self, record: &[u8], index: usize, out: &mut Vec<u8>) -> bool {
        let Some((_, start, end)) = self.place(index) else {
            return false;
        };
        let is_short = match record.get(..index + 2) {
            Some([..0x80, types @ ..]) => types.iter().all(|byte| *byte < 0x80),
            _ => false,
        };
        let at = out.len();
        if is_short {
            append(record, 0..start, out);
            append(record, end..record.len(), out);
            out[at + 1 + index] = 0;
        }
        is_short
    }

    /// The bytes of the first serial types of `record`, which must be the one read last, and the bytes of their values;
    /// `None` where there are fewer.
    #[inline]
    #[must_use]
    pub fn first<'a>(&self, record: &'a [u8], count: usize) -> Option<(&'a [u8], &'a [u8])> {
        let ends = &self.ends[..self.count];
        let (start, end) = (ends.first()?.end as usize, ends.get(count)?.end as usize);
        let types = match record.get(..=count) {
            Some([..0x80, types @ ..]) if types.iter().all(|byte| *byte < 0x80) => types,
            _ => first_types(record, count)?,
        };
        Some((types, record.get(start..end)?))
    }

    /// Appends a record with the first values of `record`, which must be the one read last. Returns false, and appends
    /// nothing, where there are fewer.
    #[inline]
    #[must_use]
    pub fn write_first(&self, record: &[u8], count: usize, out: &mut Vec<u8>) -> bool {
        let Some((types, body)) = self.first(record, count) else {
            return false;
        };
        varint::push(header_bytes(types.len()) as u64, out);
        out.extend_from_slice(types);
        out.extend_from_slice(body);
        true
    }

    /// Appends a record with the first values of `record`, which must be the one read last, and an integer after them: the
    /// entry of an index. Returns false, and appends nothing, where there are fewer.
    #[inline]
    #[must_use]
    pub fn write_first_and(
        &self,
        record: &[u8],
        count: usize,
        integer: i64,
        out: &mut Vec<u8>,
    ) -> bool {
        let Some((types, body)) = self.first(record, count) else {
            return false;
        };
        let integer = Value::Integer(integer);
        varint::push(header_bytes(types.len() + 1) as u64, out);
        append(types, 0..types.len(), out);
        out.push(serial_type(&integer) as u8);
        append(body, 0..body.len(), out);
        push_body(&integer, out);
        true
    }

    #[inline]
    fn serial_type(&self, pick: Pick) -> u64 {
        match pick {
            Pick::Value(index) => u64::from(self.serial_type_at(index)),
            Pick::Null => 0,
            Pick::Integer(integer) => serial_type(&Value::Integer(integer)),
        }
    }
}

/// Appends a part of some bytes. Most parts are short, and bytes come after them: a copy of a fixed length is no call.
#[inline(always)]
fn append(bytes: &[u8], part: Range<usize>, out: &mut Vec<u8>) {
    let (length, end) = (part.len(), out.len() + part.len());
    let from = bytes.get(part.start..).unwrap_or_default();
    match (from.first_chunk::<8>(), from.first_chunk::<64>()) {
        (Some(eight), _) if length <= eight.len() => {
            out.extend_from_slice(eight);
            out.truncate(end);
        }
        (_, Some(more)) if length <= more.len() => {
            out.extend_from_slice(more);
            out.truncate(end);
        }
        _ => out.extend_from_slice(&bytes[part]),
    }
}

/// The bytes of the first serial types of a record, each of any length.
#[cold]
fn first_types(record: &[u8], count: usize) -> Option<&[u8]> {
    let mut values = Values::new(record);
    for _ in 0..count {
        values.next_raw()?;
    }
    let (types, _) = split(record)?;
    types.get(..types.len() - values.types_bytes())
}

/// The value of a serial type between two places of a record.
#[inline(always)]
fn value_at(record: &[u8], serial_type: u32, start: usize, end: usize) -> Value<'_> {
    // Most integers have eight bytes of the record up to their end: their size decides no branch.
    if let 1..=6 = serial_type
        && let Some(eight) = record[..end].last_chunk()
    {
        let unwanted_bits = 64 - 8 * (end - start) as u32;
        return Value::Integer((i64::from_be_bytes(*eight) << unwanted_bits) >> unwanted_bits);
    }
    value_of(u64::from(serial_type), &record[start..end])
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
                    assert_eq!(is_written, count <= to - from);
                    assert_eq!(first, if is_written { picked } else { vec![9] });
                    for integer in [0, 1, -7, 300, i64::MIN] {
                        let (mut first, mut picked) = (vec![9], vec![9]);
                        let is_written =
                            fields.write_first_and(&record, count, integer, &mut first);
                        let picks = (0..count).map(Pick::Value).chain([Pick::Integer(integer)]);
                        fields.write(&record, picks, &mut picked);
                        assert_eq!(is_written, count <= to - from);
                        assert_eq!(first, if is_written { picked } else { vec![9] });
                    }
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
