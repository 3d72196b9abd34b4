//! Guesses the types of columns from the first rows of an input.

use super::ColumnInfo;
use super::forms::Forms;
use crate::encode::{Decode, Form, Oracle, is_exact};
use crate::source::{Raw, Row};
use inorder_engine::{ColumnKind, Given};

/// The first rows and their columns.
#[derive(Debug, Default)]
pub struct Sample {
    /// The names of the columns, with their positions in a row.
    pub names: Vec<(String, usize)>,
    /// The rows.
    pub rows: Vec<Row>,
    /// Whether the source tells numbers from text.
    pub is_typed: bool,
    /// Whether the columns have no names of their own: they are the table's, one after another.
    pub is_by_place: bool,
    /// Whether no row to come can name further columns.
    pub is_complete: bool,
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

/// The kinds of values in the columns of all rows.
pub(crate) struct AllRows {
    oracle: Oracle,
    columns: Vec<(String, Kinds, Forms)>,
    /// Whether every source tells numbers from text.
    is_typed: bool,
}

impl AllRows {
    /// # Errors
    /// If SQLite can't be opened for its conversions.
    pub(crate) fn new() -> rusqlite::Result<Self> {
        Ok(AllRows {
            oracle: Oracle::new()?,
            columns: Vec::new(),
            is_typed: true,
        })
    }

    /// The numbers of the columns with these names.
    pub(crate) fn places(
        &mut self,
        columns: &[(String, usize)],
        is_typed: bool,
    ) -> Vec<(usize, usize)> {
        self.is_typed &= is_typed;
        let mut places = Vec::with_capacity(columns.len());
        for (name, place) in columns {
            let known = self.columns.iter().position(|(column, ..)| column == name);
            if known.is_none() {
                let new = (name.clone(), Kinds::default(), Forms::default());
                self.columns.push(new);
            }
            places.push((known.unwrap_or(self.columns.len() - 1), *place));
        }
        places
    }

    /// Adds a row whose fields are in these places.
    pub(crate) fn add(&mut self, row: &Row, places: &[(usize, usize)]) {
        for (column, place) in places {
            let (_, kinds, forms) = &mut self.columns[*column];
            forms.add(row.given(*place));
            kinds.add(row.numeric_field(*place), self.is_typed, &self.oracle);
        }
    }

    /// The columns, their declared types in SQLite, and their kinds on a server.
    pub(crate) fn types(self) -> impl Iterator<Item = (String, String, ColumnKind)> {
        let is_typed = self.is_typed;
        self.columns.into_iter().map(move |(name, kinds, forms)| {
            let declared_type = match is_typed {
                true => kinds.type_of_values(),
                false => kinds.type_of_texts(),
            };
            let kind = forms.kind(declared_type);
            (name, declared_type.to_owned(), kind)
        })
    }
}

impl Sample {
    /// Returns the columns that have names of their own, with their positions in a row.
    pub(crate) fn named(&self) -> &[(String, usize)] {
        match self.is_by_place {
            true => &[],
            false => &self.names,
        }
    }

    /// Returns the declared type for the values at this place; empty if no type stores all of them unchanged.
    ///
    /// # Errors
    /// If SQLite can't be opened for its conversions.
    pub(crate) fn declared_type(&self, place: usize) -> rusqlite::Result<&'static str> {
        let oracle = Oracle::new()?;
        let mut kinds = Kinds::default();
        for row in &self.rows {
            kinds.add(row.numeric_field(place), self.is_typed, &oracle);
        }
        Ok(match self.is_typed {
            true => kinds.type_of_values(),
            false => kinds.type_of_texts(),
        })
    }

    /// Whether no row has a value in a column.
    pub(crate) fn is_undecided(&self, column: &str) -> bool {
        let place = self.names.iter().find(|(name, _)| name == column);
        place.is_some_and(|(_, place)| {
            let has_value = |row: &Row| !matches!(row.field(*place), Raw::Missing | Raw::Null);
            !self.rows.iter().any(has_value)
        })
    }

    /// Whether a row has a point in time that its source gives in UTC.
    pub(crate) fn has_instants(&self) -> bool {
        let has = |row: &Row| {
            let mut places = 0..row.len();
            places.any(|place| matches!(row.given(place), Given::Instant(_)))
        };
        self.rows.iter().any(has)
    }

    /// Returns the text at this place.
    fn texts(&self, place: usize) -> impl Iterator<Item = &[u8]> {
        self.rows
            .iter()
            .filter_map(move |row| match row.field(place) {
                Raw::Text(text) => Some(text),
                _ => None,
            })
    }

    /// Whether a row has text at this place.
    pub(crate) fn has_text(&self, place: usize) -> bool {
        self.texts(place).next().is_some()
    }

    /// Returns how text at this place is decoded to bytes, if one way fits all of it.
    pub(crate) fn decode(&self, place: usize, column: &ColumnInfo) -> Option<Decode> {
        let texts = || self.texts(place);
        texts().next()?;
        let mut scratch = Vec::new();
        let fits_all = |way: &&Decode| {
            texts().all(|text| text.len() > column.text_bytes_max && way.fits(text, &mut scratch))
        };
        let mut fits_all = fits_all;
        let found = Decode::ALL.iter().find(|way| fits_all(way)).copied();
        found.filter(|way| *way != Decode::Base64 || is_base64(texts()))
    }
}

/// Whether texts that base64 can decode are surely base64: words of 4, 8 or 12 letters can be decoded too. Padding tells it, or
/// a plus sign in long text.
fn is_base64<'a>(texts: impl Iterator<Item = &'a [u8]>) -> bool {
    /// The fewest characters of long text.
    const LONG: usize = 16;
    let (mut has_plus, mut are_long) = (false, true);
    for text in texts {
        if text.ends_with(b"=") {
            return true;
        }
        has_plus |= text.contains(&b'+');
        are_long &= text.len() >= LONG;
    }
    has_plus && are_long
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
            _ if self.texts + self.inexact > 0 => "TEXT",
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
