//! One row as its file holds it, before a table's types are known.

use std::ops::Range;

use inorder_engine::Given;

/// A reusable row: reading does not allocate per row.
#[derive(Debug, Default)]
pub struct Row {
    /// The bytes of the fields.
    pub(super) bytes: Vec<u8>,
    pub(super) fields: Vec<Field>,
    /// The texts with a decimal comma that the fields name, and the numbers that they are.
    commas: Vec<(Span, Span)>,
    pub(super) line: u64,
}

/// One field of a [`Row`], in the order of the names of its source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field {
    Missing,
    Null,
    Bool(bool),
    Integer(i64),
    Real(f64),
    Number(Span),
    Text(Span),
    /// A text that is a number with a decimal comma: its place in `commas`.
    Comma(u32),
    /// A point in time, as text in UTC without a zone.
    #[cfg_attr(
        not(feature = "parquet"),
        expect(dead_code, reason = "only Parquet has them")
    )]
    Instant(Span),
    /// A string of JSON, unescaped.
    JsonString(Span),
    /// An object or an array of JSON.
    Json(Span),
    Blob(Span),
}

/// The position of a field in the bytes of its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// A part of it, counted from its start.
    #[inline]
    pub(super) fn part(self, range: Range<usize>) -> Span {
        debug_assert!(range.end <= (self.end - self.start) as usize);
        Span {
            start: self.start + range.start as u32,
            end: self.start + range.end as u32,
        }
    }
}

/// The value of one field, borrowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Raw<'a> {
    /// The row doesn't name this field.
    Missing,
    /// NULL, as the source spells it.
    Null,
    /// An integer of a typed source.
    Integer(i64),
    /// A floating-point number of a typed source.
    Real(f64),
    /// A number with the digits it was written in: a JSON number.
    Number(&'a [u8]),
    /// Text: valid UTF-8. A field of a delimited file may be invalid.
    Text(&'a [u8]),
    /// A blob of a typed source.
    Blob(&'a [u8]),
}

/// The maximum size of a row in bytes: SQLite's default limit (`SQLITE_MAX_LENGTH`).
pub(super) const ROW_BYTES_MAX: usize = 1_000_000_000;

impl Row {
    /// The row's line (or ordinal, where the source has no lines), from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The number of fields in the row; the last ones may be missing.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether the row has no fields.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Bytes of all fields.
    pub(crate) fn bytes_len(&self) -> usize {
        self.bytes.len()
    }

    /// The field at this place; missing where the row ends before it.
    #[inline]
    pub fn field(&self, place: usize) -> Raw<'_> {
        match self.fields.get(place) {
            // Most of most files.
            Some(Field::Text(span)) => Raw::Text(self.slice(*span)),
            other => self.other_field(other.copied().unwrap_or(Field::Missing)),
        }
    }

    fn other_field(&self, field: Field) -> Raw<'_> {
        match field {
            Field::Missing => Raw::Missing,
            Field::Null => Raw::Null,
            Field::Bool(bool) => Raw::Integer(bool.into()),
            Field::Integer(integer) => Raw::Integer(integer),
            Field::Real(real) => Raw::Real(real),
            Field::Number(span) => Raw::Number(self.slice(span)),
            Field::Text(span)
            | Field::Instant(span)
            | Field::JsonString(span)
            | Field::Json(span) => Raw::Text(self.slice(span)),
            Field::Comma(at) => Raw::Text(self.slice(self.commas[at as usize].0)),
            Field::Blob(span) => Raw::Blob(self.slice(span)),
        }
    }

    /// The field at this place for a column of numbers, where a decimal comma means a point.
    #[inline]
    pub(crate) fn numeric_field(&self, place: usize) -> Raw<'_> {
        match self.number(place) {
            Some(number) => Raw::Number(number),
            None => self.field(place),
        }
    }

    /// The number, with a point, that the field at this place has with a decimal comma.
    #[inline]
    pub(crate) fn number(&self, place: usize) -> Option<&[u8]> {
        if self.commas.is_empty() {
            return None;
        }
        match self.fields.get(place) {
            Some(Field::Comma(at)) => Some(self.slice(self.commas[*at as usize].1)),
            _ => None,
        }
    }

    /// The field at this place, with all that its source says of it.
    #[inline]
    pub(crate) fn given(&self, place: usize) -> Given<'_> {
        match self.fields.get(place).copied().unwrap_or(Field::Missing) {
            Field::Missing | Field::Null => Given::Null,
            Field::Bool(bool) => Given::Bool(bool),
            Field::Integer(integer) => Given::Integer(integer),
            Field::Real(real) => Given::Real(real),
            Field::Number(span) => Given::Number(self.slice(span)),
            Field::Text(span) => Given::Text(self.slice(span)),
            Field::Comma(at) => Given::Text(self.slice(self.commas[at as usize].0)),
            Field::Instant(span) => Given::Instant(self.slice(span)),
            Field::JsonString(span) => Given::JsonString(self.slice(span)),
            Field::Json(span) => Given::Json(self.slice(span)),
            Field::Blob(span) => Given::Blob(self.slice(span)),
        }
    }

    fn slice(&self, span: Span) -> &[u8] {
        &self.bytes[span.start as usize..span.end as usize]
    }

    /// Empties the row for another.
    pub(super) fn begin(&mut self, line: u64) {
        self.bytes.clear();
        self.fields.clear();
        self.commas.clear();
        self.line = line;
    }

    /// Appends bytes that a field will point to.
    ///
    /// # Panics
    /// If the row exceeds 4 GiB; sources refuse rows above [`ROW_BYTES_MAX`].
    #[inline]
    pub(super) fn keep(&mut self, bytes: &[u8]) -> Span {
        let place = |at: usize| u32::try_from(at).expect("a row of less than 4 GiB");
        let start = place(self.bytes.len());
        self.bytes.extend_from_slice(bytes);
        Span {
            start,
            end: place(self.bytes.len()),
        }
    }

    /// Keeps the number that a text with a decimal comma is.
    pub(super) fn keep_number(&mut self, text: Span, number: &[u8]) -> Field {
        let number = self.keep(number);
        self.commas.push((text, number));
        Field::Comma(self.commas.len() as u32 - 1)
    }

    /// Whether the row has a field at this place.
    pub(crate) fn has(&self, place: usize) -> bool {
        !matches!(self.fields.get(place), None | Some(Field::Missing))
    }

    /// Sets a field, with those before it missing if they aren't there yet.
    pub(super) fn set(&mut self, place: usize, field: Field) {
        if self.fields.len() <= place {
            self.fields.resize(place + 1, Field::Missing);
        }
        self.fields[place] = field;
    }
}
