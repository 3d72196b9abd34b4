//! What the first rows say about the columns of an input.

use super::ColumnInfo;
use crate::encode::Decode;
use crate::source::{Plain, Raw, Row, plain_number};

/// The first rows and their columns.
#[derive(Debug, Default)]
pub struct Sample {
    /// The names of the columns met in them, with their places in a row.
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
    reals: usize,
    texts: usize,
    blobs: usize,
    /// Whether a real would round one of the integers.
    has_large_integer: bool,
}

impl Sample {
    /// The type that the values at this place are declared to have; empty where no one type keeps them all
    /// as they are.
    pub(super) fn declared_type(&self, place: usize) -> &'static str {
        let mut kinds = Kinds::default();
        for row in &self.rows {
            kinds.add(row.field(place), self.is_typed);
        }
        match kinds {
            Kinds {
                integers: 0,
                reals: 0,
                texts: 0,
                blobs: 0,
                ..
            } if self.is_typed => "",
            Kinds {
                integers: 0,
                reals: 0,
                blobs: 0,
                ..
            } => "TEXT",
            Kinds {
                integers: 0,
                reals: 0,
                texts: 0,
                ..
            } => "BLOB",
            Kinds {
                reals: 0,
                texts: 0,
                blobs: 0,
                ..
            } => "INTEGER",
            Kinds {
                texts: 0,
                blobs: 0,
                has_large_integer: false,
                ..
            } => "REAL",
            Kinds {
                texts: 0, blobs: 0, ..
            } => "NUMERIC",
            _ if self.is_typed => "",
            _ => "TEXT",
        }
    }

    /// How text at this place stands for bytes, if all of it does in one way.
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
    fn add(&mut self, raw: Raw<'_>, is_typed: bool) {
        let number = match raw {
            Raw::Missing | Raw::Null => return,
            Raw::Integer(integer) => Some(Plain::Integer(integer)),
            Raw::Real(real) => Some(Plain::Real(real)),
            Raw::Number(digits) => plain_number(digits).or(Some(Plain::Real(0.0))),
            Raw::Text(text) if !is_typed => plain_number(text),
            Raw::Text(_) => None,
            Raw::Blob(_) => {
                self.blobs += 1;
                return;
            }
        };
        match number {
            Some(Plain::Integer(integer)) => {
                self.integers += 1;
                self.has_large_integer |= integer.unsigned_abs() > 1 << 53;
            }
            Some(Plain::Real(_)) => self.reals += 1,
            None => self.texts += 1,
        }
    }
}
