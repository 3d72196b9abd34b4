//! Compares records as SQLite does: value by value, text by collation.

use std::cmp::Ordering;

use super::read::{BODY_BYTES, Values, body_bytes, value_of};
use super::{TextEncoding, Value};

/// The serial type of reals, of which 0.0 and -0.0 are equal.
const REAL: u8 = 7;

/// The first serial type of blobs, which are even. Those of texts are odd.
const BLOB: u8 = 12;

/// A collation of SQLite. Source: <https://www.sqlite.org/datatype3.html#collation>.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Collation {
    /// Compares the bytes of the text in its encoding.
    Binary,
    /// Compares the UTF-8 bytes up to the first NUL, ASCII letters in lower case; then the lengths.
    NoCase,
    /// Compares the UTF-8 bytes without trailing spaces.
    RTrim,
}

impl Collation {
    /// SQLite's built-in collations.
    pub const ALL: &[Collation] = &[Collation::Binary, Collation::NoCase, Collation::RTrim];

    /// Returns the name in SQL.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Collation::Binary => "BINARY",
            Collation::NoCase => "NOCASE",
            Collation::RTrim => "RTRIM",
        }
    }

    /// Returns the collation of this name, in any letter case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let is_named = |collation: &&Collation| collation.name().eq_ignore_ascii_case(name);
        Self::ALL.iter().find(is_named).copied()
    }
}

/// One column of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyColumn {
    /// The index of the value in the record, from 0.
    pub index: usize,
    /// The collation of text.
    pub collation: Collation,
    /// Whether the order is descending.
    pub is_descending: bool,
}

impl KeyColumn {
    /// The value at `index`, ascending, with the collation BINARY.
    #[must_use]
    pub fn ascending(index: usize) -> Self {
        KeyColumn {
            index,
            collation: Collation::Binary,
            is_descending: false,
        }
    }
}

/// The order of records by some of their values, as in an index of SQLite.
///
/// A value that a record doesn't have counts as NULL. Malformed records have some order; comparing them doesn't panic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyOrder {
    columns: Vec<KeyColumn>,
    encoding: TextEncoding,
}

impl KeyOrder {
    /// Orders records by these columns, the most significant first. Text is in this encoding.
    #[must_use]
    pub fn new(columns: Vec<KeyColumn>, encoding: TextEncoding) -> Self {
        KeyOrder { columns, encoding }
    }

    /// Returns the columns, the most significant first.
    #[must_use]
    pub fn columns(&self) -> &[KeyColumn] {
        &self.columns
    }

    /// Returns the encoding of text.
    #[must_use]
    pub fn encoding(&self) -> TextEncoding {
        self.encoding
    }

    /// Compares two records as SQLite does.
    #[must_use]
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.compare_columns(a, b).0
    }

    /// Compares two records. Also returns the number of leading columns in which they are equal.
    #[must_use]
    pub fn compare_columns(&self, a: &[u8], b: &[u8]) -> (Ordering, usize) {
        if let Some(result) = self.compare_short(a, b) {
            return result;
        }
        let (mut a, mut b) = (Reader::new(a), Reader::new(b));
        for (i, column) in self.columns.iter().enumerate() {
            let (a, b) = (a.raw(column.index), b.raw(column.index));
            if a == b {
                continue;
            }
            let (a, b) = (value_of(a.0, a.1), value_of(b.0, b.1));
            let order = values(&a, &b, column.collation, self.encoding);
            if order.is_ne() {
                return match column.is_descending {
                    true => (order.reverse(), i),
                    false => (order, i),
                };
            }
        }
        (Ordering::Equal, self.columns.len())
    }

    /// Whether two records are equal in the first `columns` columns of the key.
    #[inline]
    #[must_use]
    pub fn is_tied(&self, a: &[u8], b: &[u8], columns: usize) -> bool {
        match self.is_plain_tied(a, b, columns) {
            Some(is_tied) => is_tied,
            None => self.compare_columns(a, b).1 >= columns,
        }
    }

    /// The same for records whose key is at their beginning, if their serial types are equal and each takes a byte. Equal
    /// bytes are equal values; other bytes are other ones in integers, and in texts and blobs that are compared by bytes.
    #[inline]
    fn is_plain_tied(&self, a: &[u8], b: &[u8], columns: usize) -> Option<bool> {
        let header = usize::from(*a.first()?);
        if header >= 0x80 || a.first() != b.first() || self.columns.len() < columns {
            return None;
        }
        let (types_a, types_b) = (a.get(1..1 + columns)?, b.get(1..1 + columns)?);
        if columns >= header || types_a.iter().zip(types_b).any(|(a, b)| a != b) {
            return None;
        }
        let mut from = header;
        for (i, (column, serial_type)) in self.columns.iter().zip(types_a).enumerate() {
            if column.index != i {
                return None;
            }
            let bytes = usize::from(*BODY_BYTES.get(usize::from(*serial_type))?);
            let range = from..from + bytes;
            if a.get(range.clone())? != b.get(range)? {
                let is_plain = *serial_type != REAL && column.collation == Collation::Binary;
                return is_plain.then_some(false);
            }
            from += bytes;
        }
        Some(true)
    }

    /// Compares records whose key is at their beginning, if each serial type takes a byte.
    #[inline]
    fn compare_short(&self, a: &[u8], b: &[u8]) -> Option<(Ordering, usize)> {
        let (mut from_a, mut from_b) = (usize::from(*a.first()?), usize::from(*b.first()?));
        if from_a >= 0x80 || from_b >= 0x80 {
            return None;
        }
        let (types_a, types_b) = (a.get(1..from_a)?, b.get(1..from_b)?);
        for (i, column) in self.columns.iter().enumerate() {
            if column.index != i {
                return None;
            }
            let (type_a, type_b) = (*types_a.get(i)?, *types_b.get(i)?);
            let bytes_a = *BODY_BYTES.get(usize::from(type_a))?;
            let bytes_b = *BODY_BYTES.get(usize::from(type_b))?;
            let value_a = a.get(from_a..from_a + usize::from(bytes_a))?;
            let value_b = b.get(from_b..from_b + usize::from(bytes_b))?;
            from_a += value_a.len();
            from_b += value_b.len();
            let order = if is_plain(type_a, type_b, column.collation) {
                bytes(value_a, value_b)
            } else if type_a == type_b && value_a == value_b {
                Ordering::Equal
            } else {
                let value_a = value_of(u64::from(type_a), value_a);
                let value_b = value_of(u64::from(type_b), value_b);
                values(&value_a, &value_b, column.collation, self.encoding)
            };
            if order.is_ne() {
                return Some(match column.is_descending {
                    true => (order.reverse(), i),
                    false => (order, i),
                });
            }
        }
        Some((Ordering::Equal, self.columns.len()))
    }

    /// Returns a number that orders records by the beginning of their keys.
    ///
    /// Records with different prefixes are in the order of the prefixes. For equal prefixes, [`compare`](Self::compare)
    /// decides.
    #[inline]
    #[must_use]
    pub fn prefix(&self, record: &[u8]) -> u64 {
        let Some(column) = self.columns.first() else {
            return 0;
        };
        let ascending = match plain_prefix(record, column) {
            Some(prefix) => prefix,
            None => {
                let value = match column.index {
                    0 => first_value(record),
                    index => Reader::new(record).value(index),
                };
                value_prefix(&value, column.collation, self.encoding)
            }
        };
        if column.is_descending {
            !ascending
        } else {
            ascending
        }
    }

    /// Returns numbers that order records with equal [`prefix`](Self::prefix)es further, the most significant first.
    ///
    /// For equal numbers, [`compare`](Self::compare) decides.
    #[must_use]
    pub fn words(&self, record: &[u8]) -> [u64; WORDS] {
        let (mut words, mut reader) = (Words::default(), Reader::new(record));
        for (at, column) in self.columns.iter().enumerate() {
            let value = reader.value(column.index);
            let (from, is_whole) = (words.used, words.push(&value, at == 0, column.collation));
            if column.is_descending {
                words.bytes[from..words.used]
                    .iter_mut()
                    .for_each(|byte| *byte = !*byte);
            }
            if !is_whole || words.used == words.bytes.len() {
                break;
            }
        }
        words.numbers()
    }

    /// Whether a column of the key is NULL. Such records are never duplicates in an index.
    #[must_use]
    pub fn has_null(&self, record: &[u8]) -> bool {
        self.has_null_before(self.columns.len(), record)
    }

    /// Whether any of the first `columns` columns of the key is NULL.
    #[must_use]
    pub fn has_null_before(&self, columns: usize, record: &[u8]) -> bool {
        let mut reader = Reader::new(record);
        let mut columns = self.columns.iter().take(columns);
        columns.any(|column| reader.value(column.index) == Value::Null)
    }
}

impl Value<'_> {
    /// Compares two values as SQLite does, text with the collation BINARY.
    ///
    /// Source: <https://www.sqlite.org/datatype3.html>, sections 4.1 and 7.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        values(self, other, Collation::Binary, TextEncoding::Utf8)
    }

    /// Returns a number that orders values by their beginning. For equal numbers, [`compare`](Self::compare) decides.
    #[must_use]
    pub fn prefix(&self) -> u64 {
        value_prefix(self, Collation::Binary, TextEncoding::Utf8)
    }
}

/// How many numbers [`KeyOrder::words`] returns.
pub const WORDS: usize = 4;

/// Bytes of a text or blob that are whole in a prefix.
const PREFIX_BYTES: usize = 7;

/// The beginning of a key as bytes that are in the order of the keys. The bytes of a value are no beginning of those of
/// another.
#[derive(Default)]
struct Words {
    bytes: [u8; 8 * WORDS],
    used: usize,
}

impl Words {
    /// Adds a value, or the rest of the first one after its prefix. Returns false where what comes after it can't be
    /// added.
    #[inline]
    fn push(&mut self, value: &Value, is_first: bool, collation: Collation) -> bool {
        if !is_first {
            self.put(&[class(value) as u8]);
        }
        match value {
            Value::Null => {}
            Value::Integer(integer) => {
                let real = *integer as f64;
                let rest = i128::from(*integer) - real as i128;
                self.put_number(real, rest as i16, is_first);
            }
            Value::Real(real) => self.put_number(*real, 0, is_first),
            Value::Text(_) if collation != Collation::Binary => return false,
            Value::Text(bytes) | Value::Blob(bytes) => self.put_bytes(bytes, is_first),
        }
        true
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        let count = bytes.len().min(self.bytes.len() - self.used);
        self.bytes[self.used..][..count].copy_from_slice(&bytes[..count]);
        self.used += count;
    }

    /// Adds a number: the nearest real, and what an integer has beyond that, less than 2^10. The prefix lacks two bits.
    #[inline]
    fn put_number(&mut self, real: f64, rest: i16, is_first: bool) {
        const MIDDLE: i16 = 1 << 13;
        let (real, rest) = (of_real(real), (rest + MIDDLE) as u16);
        match is_first {
            true => self.put(&((real as u16) << 14 | rest).to_be_bytes()),
            false => {
                self.put(&real.to_be_bytes());
                self.put(&rest.to_be_bytes());
            }
        }
    }

    /// Adds bytes and their end, which sorts before any byte: a zero is followed by a one, but not at the end.
    #[inline]
    fn put_bytes(&mut self, mut bytes: &[u8], is_first: bool) {
        // With a zero in the prefix, the value may also end there.
        if is_first
            && let Some((before, rest)) = bytes.split_at_checked(PREFIX_BYTES)
            && !before.contains(&0)
        {
            bytes = rest;
        }
        bytes = &bytes[..bytes.len().min(self.bytes.len())];
        while let Some(zero) = bytes.iter().position(|byte| *byte == 0) {
            self.put(&bytes[..=zero]);
            self.put(&[1]);
            bytes = &bytes[zero + 1..];
        }
        self.put(bytes);
        self.put(&[0, 0]);
    }

    fn numbers(&self) -> [u64; WORDS] {
        let mut numbers = [0; WORDS];
        for (number, bytes) in numbers.iter_mut().zip(self.bytes.chunks_exact(8)) {
            *number = of_bytes(bytes);
        }
        numbers
    }
}

/// A record's values by index, cheapest where indexes ascend.
struct Reader<'a> {
    record: &'a [u8],
    rest: Values<'a>,
    next: usize,
}

impl<'a> Reader<'a> {
    #[inline]
    fn new(record: &'a [u8]) -> Self {
        Reader {
            record,
            rest: Values::new(record),
            next: 0,
        }
    }

    #[inline]
    fn value(&mut self, index: usize) -> Value<'a> {
        let (serial_type, bytes) = self.raw(index);
        value_of(serial_type, bytes)
    }

    /// The serial type and the bytes of a value; those of NULL past the end.
    #[inline]
    fn raw(&mut self, index: usize) -> (u64, &'a [u8]) {
        if index < self.next {
            *self = Reader::new(self.record);
        }
        while self.next < index && self.rest.next_raw().is_some() {
            self.next += 1;
        }
        if self.next < index {
            return (0, &[]);
        }
        self.next += 1;
        self.rest.next_raw().unwrap_or((0, &[]))
    }
}

/// The prefix of the first value if that is a text or blob that is compared by its bytes, of 8 bytes or more.
#[inline]
fn plain_prefix(record: &[u8], column: &KeyColumn) -> Option<u64> {
    let [header @ 2..0x80, serial_type @ BLOB..0x80, ..] = *record else {
        return None;
    };
    if column.index != 0 || !is_plain(serial_type, serial_type, column.collation) {
        return None;
    }
    let bytes = usize::from(BODY_BYTES[usize::from(serial_type)]);
    let value = record.get(usize::from(header)..)?.get(..bytes)?;
    let first = value.first_chunk()?;
    let class = 3 - u64::from(serial_type & 1);
    Some(class << 62 | u64::from_be_bytes(*first) >> 2)
}

/// Compares bytes. The first and the last eight, which overlap, are all of those that are short and as many: that is no
/// call.
#[inline]
fn bytes(a: &[u8], b: &[u8]) -> Ordering {
    let eight = |chunk: Option<&[u8; 8]>| chunk.map(|chunk| u64::from_be_bytes(*chunk));
    let (first_a, first_b) = (eight(a.first_chunk()), eight(b.first_chunk()));
    match (first_a, first_b) {
        (Some(first_a), Some(first_b)) if first_a != first_b => first_a.cmp(&first_b),
        (Some(_), Some(_)) if a.len() == b.len() && a.len() <= 16 => {
            eight(a.last_chunk()).cmp(&eight(b.last_chunk()))
        }
        _ => a.cmp(b),
    }
}

/// The first value of a record.
#[inline]
fn first_value(record: &[u8]) -> Value<'_> {
    match *record {
        [header @ 2..0x80, serial_type @ 0..0x80, ..] => {
            let body = record.get(usize::from(header)..).unwrap_or_default();
            let bytes = body.get(..body_bytes(u64::from(serial_type)) as usize);
            bytes.map_or(Value::Null, |bytes| value_of(u64::from(serial_type), bytes))
        }
        _ => Reader::new(record).value(0),
    }
}

/// Whether the values of two serial types are both texts or both blobs that are compared by their bytes.
#[inline]
fn is_plain(a: u8, b: u8, collation: Collation) -> bool {
    let is_same = a.min(b) >= BLOB && (a ^ b) & 1 == 0;
    is_same && (collation == Collation::Binary || a & 1 == 0)
}

/// NULL, number, text, blob.
#[inline]
fn class(value: &Value) -> u64 {
    match value {
        Value::Null => 0,
        Value::Integer(_) | Value::Real(_) => 1,
        Value::Text(_) => 2,
        Value::Blob(_) => 3,
    }
}

#[inline]
fn values(a: &Value, b: &Value, collation: Collation, encoding: TextEncoding) -> Ordering {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => texts(a, b, collation, encoding),
        (Value::Blob(a), Value::Blob(b)) => a.cmp(b),
        (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
        (Value::Real(a), Value::Real(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
        (Value::Integer(a), Value::Real(b)) => integer_with_real(*a, *b),
        (Value::Real(a), Value::Integer(b)) => integer_with_real(*b, *a).reverse(),
        _ => class(a).cmp(&class(b)),
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

/// NOCASE and RTRIM exist for UTF-8 alone, SQLite converts for them; BINARY takes the bytes there are.
#[inline]
fn texts(a: &[u8], b: &[u8], collation: Collation, encoding: TextEncoding) -> Ordering {
    match (collation, encoding) {
        (Collation::Binary, _) => a.cmp(b),
        _ if a == b => Ordering::Equal,
        (Collation::RTrim, TextEncoding::Utf8) => trimmed(a).cmp(trimmed(b)),
        (Collation::RTrim, _) => {
            let (a, b) = (encoding.utf8(a), encoding.utf8(b));
            without_spaces(a).cmp(without_spaces(b))
        }
        (Collation::NoCase, TextEncoding::Utf8) => {
            let (folded_a, folded_b) = (folded(a.iter().copied()), folded(b.iter().copied()));
            folded_a.cmp(folded_b).then_with(|| a.len().cmp(&b.len()))
        }
        (Collation::NoCase, _) => {
            let utf8 = |text| encoding.utf8(text);
            let bytes = |text| utf8(text).count();
            folded(utf8(a))
                .cmp(folded(utf8(b)))
                .then_with(|| bytes(a).cmp(&bytes(b)))
        }
    }
}

/// Removes trailing spaces.
fn trimmed(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|&byte| byte != b' ');
    &text[..end.map_or(0, |last| last + 1)]
}

/// Bytes one after another without the spaces at the end.
fn without_spaces(mut bytes: impl Iterator<Item = u8>) -> impl Iterator<Item = u8> {
    let (mut spaces, mut after) = (0usize, None);
    std::iter::from_fn(move || {
        if spaces == 0
            && let Some(byte) = after.take()
        {
            return Some(byte);
        }
        while spaces == 0 || after.is_none() {
            match bytes.next()? {
                b' ' => spaces += 1,
                byte if spaces == 0 => return Some(byte),
                byte => after = Some(byte),
            }
        }
        spaces -= 1;
        Some(b' ')
    })
}

/// In lower case, up to the first NUL.
fn folded(bytes: impl Iterator<Item = u8>) -> impl Iterator<Item = u8> {
    bytes
        .take_while(|&byte| byte != 0)
        .map(|byte| byte.to_ascii_lowercase())
}

/// Two bits of the class, then the first 62 of the value: of a number's nearest real, or of 8 bytes.
#[inline]
fn value_prefix(value: &Value, collation: Collation, encoding: TextEncoding) -> u64 {
    let number = match value {
        Value::Null => 0,
        Value::Integer(integer) => of_real(*integer as f64),
        Value::Real(real) => of_real(*real),
        Value::Text(text) => text_prefix(text, collation, encoding),
        Value::Blob(blob) => of_bytes(blob),
    };
    class(value) << 62 | number >> 2
}

#[inline]
fn text_prefix(text: &[u8], collation: Collation, encoding: TextEncoding) -> u64 {
    match (collation, encoding) {
        (Collation::Binary, _) => of_bytes(text),
        (Collation::RTrim, TextEncoding::Utf8) => of_bytes(trimmed(text)),
        (Collation::RTrim, _) => first_8(without_spaces(encoding.utf8(text))),
        (Collation::NoCase, _) => first_8(folded(encoding.utf8(text))),
    }
}

/// Returns a number that orders reals. NaN, which SQLite stores as NULL, is first; -0.0 equals 0.0.
#[inline]
#[must_use]
pub fn of_real(real: f64) -> u64 {
    if real.is_nan() {
        return 0;
    }
    let bits = (real + 0.0).to_bits();
    bits ^ (((bits as i64 >> 63) as u64) | 1 << 63)
}

/// Returns the first 8 bytes as a big-endian number, padded with zeros.
#[inline]
#[must_use]
pub fn of_bytes(bytes: &[u8]) -> u64 {
    match bytes.first_chunk::<8>() {
        Some(chunk) => u64::from_be_bytes(*chunk),
        None => first_8(bytes.iter().copied()),
    }
}

fn first_8(bytes: impl Iterator<Item = u8>) -> u64 {
    let mut chunk = [0; 8];
    for (slot, byte) in chunk.iter_mut().zip(bytes) {
        *slot = byte;
    }
    u64::from_be_bytes(chunk)
}
