//! Guesses the types of columns from the first rows of an input.

use std::sync::OnceLock;

use super::ColumnInfo;
use super::forms::Forms;
use super::kinds::{Derived, Kinds, Typing};
use crate::encode::{Decode, Oracle};
use crate::note::Note;
use crate::source::{Raw, Row};
use inorder_engine::{ColumnKind, Given};

/// The first rows and their columns.
#[derive(Debug, Default)]
pub struct Sample {
    /// The names of the columns, with their positions in a row.
    pub names: Vec<(String, usize)>,
    /// The rows.
    pub rows: Vec<Row>,
    /// What the source says of its values.
    pub typing: Typing,
    /// Whether the columns have no names of their own: they are the table's, one after another.
    pub is_by_place: bool,
    /// Whether no row to come can name further columns.
    pub is_complete: bool,
    /// The types of the columns by place, once they are asked for.
    derived: OnceLock<Vec<Derived>>,
}

/// A column, as all rows of the inputs tell.
#[derive(Clone, Debug)]
pub struct FoundColumn {
    /// Its name.
    pub name: String,
    /// Its declared type in SQLite.
    pub declared_type: String,
    /// Its kind on a server.
    pub kind: ColumnKind,
    /// What is to be said about its type.
    pub note: Option<Note>,
}

/// The kinds of values in the columns of all rows.
pub(crate) struct AllRows {
    oracle: Oracle,
    columns: Vec<(String, Kinds, Forms)>,
    /// What every source says of its values.
    typing: Typing,
}

impl AllRows {
    /// # Errors
    /// If SQLite can't be opened for its conversions.
    pub(crate) fn new() -> rusqlite::Result<Self> {
        Ok(AllRows {
            oracle: Oracle::new()?,
            columns: Vec::new(),
            typing: Typing {
                is_typed: true,
                has_decimals: true,
            },
        })
    }

    /// The numbers of the columns with these names.
    pub(crate) fn places(
        &mut self,
        columns: &[(String, usize)],
        typing: Typing,
    ) -> Vec<(usize, usize)> {
        self.typing.is_typed &= typing.is_typed;
        self.typing.has_decimals &= typing.has_decimals;
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
            let value = row.numeric_field(*place);
            kinds.add(value, row.line(), self.typing, &self.oracle);
        }
    }

    /// The columns and their types.
    pub(crate) fn types(self) -> impl Iterator<Item = FoundColumn> {
        let typing = self.typing;
        self.columns.into_iter().map(move |(name, kinds, forms)| {
            let derived = kinds.derived(typing);
            FoundColumn {
                declared_type: derived.declared_type.to_owned(),
                kind: forms.kind(&derived.kind),
                note: derived.note(&name),
                name,
            }
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

    /// Returns the type of a new column for the values at this place.
    ///
    /// # Errors
    /// If SQLite can't be opened for its conversions.
    pub(crate) fn derived(&self, place: usize) -> rusqlite::Result<&Derived> {
        let all = match self.derived.get() {
            Some(all) => all,
            None => {
                let all = self.derive()?;
                self.derived.get_or_init(|| all)
            }
        };
        Ok(&all[place])
    }

    fn derive(&self) -> rusqlite::Result<Vec<Derived>> {
        let oracle = Oracle::new()?;
        let places = self.names.iter().map(|(_, place)| place + 1);
        let places = places.max().unwrap_or(0);
        let mut kinds: Vec<Kinds> = (0..places).map(|_| Kinds::default()).collect();
        for row in &self.rows {
            for (place, kinds) in kinds.iter_mut().enumerate() {
                let value = row.numeric_field(place);
                kinds.add(value, row.line(), self.typing, &oracle);
            }
        }
        Ok(kinds
            .iter()
            .map(|kinds| kinds.derived(self.typing))
            .collect())
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
        // A column that refuses text stores it in no other way.
        let ways = match column.text_bytes_max {
            0 => Decode::SURE,
            _ => Decode::ALL,
        };
        let found = ways.iter().find(|way| fits_all(way)).copied();
        found.filter(|way| *way != Decode::Base64 || is_base64(texts()))
    }

    /// Whether all texts at this place may be bytes in hex.
    pub(crate) fn may_be_bytes(&self, place: usize) -> bool {
        let mut scratch = Vec::new();
        self.texts(place)
            .all(|text| Decode::Hex.fits(text, &mut scratch))
    }
}

/// Whether texts that base64 can decode are surely base64: words of 4, 8 or 12 letters can be decoded too, and `key=`. Padding
/// of two characters, or one or a plus sign in long text, tells it.
fn is_base64<'a>(texts: impl Iterator<Item = &'a [u8]>) -> bool {
    /// The fewest characters of long text.
    const LONG: usize = 16;
    let (mut has_mark, mut are_long) = (false, true);
    for text in texts {
        if text.ends_with(b"==") {
            return true;
        }
        has_mark |= text.ends_with(b"=") || text.contains(&b'+');
        are_long &= text.len() >= LONG;
    }
    has_mark && are_long
}
