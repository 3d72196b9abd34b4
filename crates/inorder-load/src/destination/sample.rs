//! Guesses the types of columns from the first rows of an input.

use super::ColumnInfo;
use crate::encode::{Decode, Form, Oracle, is_exact};
use crate::source::{Raw, Row};

/// The first rows and their columns.
#[derive(Debug, Default)]
pub struct Sample {
    /// The names of the columns, with their positions in a row.
    pub names: Vec<(String, usize)>,
    /// The rows.
    pub rows: Vec<Row>,
    /// Whether the source tells numbers from text.
    pub is_typed: bool,
}

/// The kinds of values in a column.
#[derive(Debug, Default)]
struct Kinds {
    integers: usize,
    /// Integral reals in text: `7.0`.
    wholes: usize,
    /// Other reals.
    reals: usize,
    texts: usize,
    blobs: usize,
    /// Numbers that neither a 64-bit integer nor a real represents.
    inexact: usize,
    /// Whether one of the integers is not exact as a real.
    has_large_integer: bool,
}

impl Sample {
    /// Returns the declared type for the values at this place; empty if no type stores all of them unchanged.
    ///
    /// # Errors
    /// If SQLite can't be opened for its conversions.
    pub(super) fn declared_type(&self, place: usize) -> rusqlite::Result<&'static str> {
        let oracle = Oracle::new()?;
        let mut kinds = Kinds::default();
        for row in &self.rows {
            kinds.add(row.field(place), self.is_typed, &oracle);
        }
        Ok(match self.is_typed {
            true => kinds.type_of_values(),
            false => kinds.type_of_texts(),
        })
    }

    /// Returns how text at this place is decoded to bytes, if one way fits all of it.
    pub(crate) fn decode(&self, place: usize, column: &ColumnInfo) -> Option<Decode> {
        let texts = || {
            self.rows.iter().filter_map(|row| match row.field(place) {
                Raw::Text(text) => Some(text),
                _ => None,
            })
        };
        texts().next()?;
        let mut scratch = Vec::new();
        let fits_all = |way: &&Decode| {
            texts().all(|text| text.len() > column.text_bytes_max && way.fits(text, &mut scratch))
        };
        let mut fits_all = fits_all;
        Decode::ALL.iter().find(|way| fits_all(way)).copied()
    }
}

impl Kinds {
    fn add(&mut self, raw: Raw<'_>, is_typed: bool, oracle: &Oracle) {
        match raw {
            Raw::Missing | Raw::Null => {}
            Raw::Integer(integer) => self.add_integer(integer),
            Raw::Real(_) => self.reals += 1,
            Raw::Number(digits) => match std::str::from_utf8(digits).map(str::parse) {
                Ok(Ok(integer)) => self.add_integer(integer),
                _ if is_exact(digits, oracle) => self.reals += 1,
                _ => self.inexact += 1,
            },
            Raw::Text(text) => match Form::of(text, oracle).filter(|_| !is_typed) {
                Some(Form::Integer) => self.integers += 1,
                Some(Form::Whole) => self.wholes += 1,
                Some(Form::Fraction) => self.reals += 1,
                None => self.texts += 1,
            },
            Raw::Blob(_) => self.blobs += 1,
        }
    }

    fn add_integer(&mut self, integer: i64) {
        self.integers += 1;
        self.has_large_integer |= integer.unsigned_abs() > 1 << 53;
    }

    /// Returns the type that gives all texts back unchanged.
    fn type_of_texts(&self) -> &'static str {
        match (self.integers > 0, self.wholes > 0, self.reals > 0) {
            _ if self.texts > 0 => "TEXT",
            (false, false, false) => "TEXT",
            (true, false, false) => "INTEGER",
            (false, _, _) => "REAL",
            (true, false, true) => "NUMERIC",
            (true, true, _) => "TEXT",
        }
    }

    /// Returns the type that gives all values back unchanged.
    fn type_of_values(&self) -> &'static str {
        let are_numbers = self.integers + self.reals > 0;
        match (are_numbers, self.texts > 0, self.blobs > 0) {
            // Text keeps all digits.
            (_, _, false) if self.inexact > 0 => "TEXT",
            (false, true, false) => "TEXT",
            (false, false, true) if self.inexact == 0 => "BLOB",
            (true, false, false) if self.reals == 0 => "INTEGER",
            (true, false, false) if self.has_large_integer && self.integers > 0 => "NUMERIC",
            (true, false, false) => "REAL",
            _ => "",
        }
    }
}
