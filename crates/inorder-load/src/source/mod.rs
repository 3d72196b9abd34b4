//! Files of rows that people bring, read one row after another.
//!
//! A format is one file here and one line in the list [`FORMATS`].

mod column;
mod csv;
mod delimited;
mod feed;
mod imdb;
mod input;
mod jsonl;
#[cfg(not(feature = "parquet"))]
mod no_parquet;
#[cfg(feature = "parquet")]
mod parquet;
mod paths;
mod quoting;
mod row;
mod splitter;
mod sqlite;
mod table;
mod tsv;

use std::path::Path;

use crate::Error;
use input::Input;

pub use input::{Meter, STDIN};
pub use paths::{Location, expand};
pub use row::{Raw, Row};
pub use table::{Table, read};

/// Every format, the ones known by their content before those known by the file's name.
pub const FORMATS: &[Format] = &[
    imdb::FORMAT,
    sqlite::FORMAT,
    #[cfg(not(feature = "parquet"))]
    no_parquet::FORMAT,
    #[cfg(feature = "parquet")]
    parquet::FORMAT,
    csv::FORMAT,
    tsv::FORMAT,
    jsonl::FORMAT,
];

/// Begins to read a file of some format.
type Open = fn(input: Input, settings: &Settings) -> Result<Box<dyn Rows>, Error>;

/// A way to write rows in a file.
pub struct Format {
    /// The name it is chosen by.
    pub name: &'static str,
    /// What a file of this format is, for people who brought another.
    pub description: &'static str,
    /// Whether a file is of this format, by its extension in lower case (that of a compression left
    /// out) or by its first bytes.
    recognises: fn(extension: &str, head: &[u8]) -> bool,
    /// Begins to read.
    open: Open,
}

/// How a file is written, where it is not as its format usually is.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The format's name; without one it is recognised by the file's name and content.
    pub format: Option<String>,
    /// The byte between two fields.
    pub delimiter: Option<u8>,
    /// The byte that fields may stand between; `Some(None)` where none may.
    pub quote: Option<Option<u8>>,
    /// Whether the first record of a delimited file names the columns. Without names they are `c1`,
    /// `c2` and so on.
    pub has_header: bool,
    /// The field that means NULL where it isn't quoted; `Some(None)` where none does.
    pub null: Option<Option<String>>,
    /// The table of a database that is read.
    pub table: Option<String>,
}

impl Default for Settings {
    /// As the formats usually are.
    fn default() -> Self {
        Settings {
            format: None,
            delimiter: None,
            quote: None,
            has_header: true,
            null: None,
            table: None,
        }
    }
}

/// The rows of one file, one after another.
pub trait Rows: Send {
    /// The names of the columns met so far: where a format names fields row by row, reading on may
    /// add to their end.
    fn columns(&self) -> &[String];

    /// Further names of columns: the further name, then one of [`Rows::columns`].
    fn aliases(&self) -> &[(&'static str, &'static str)] {
        &[]
    }

    /// Reads the next row; false where there is none.
    ///
    /// # Errors
    /// [`Error::Malformed`] where this row breaks the rules of its format: the next one can still be
    /// read. Any other error ends the file.
    fn next(&mut self, row: &mut Row) -> Result<bool, Error>;

    /// The bytes of the last row as they are in the file, for a list of rejects; empty where a format
    /// has no text.
    fn last(&self) -> &[u8] {
        &[]
    }

    /// Whether no row to come can name further columns.
    fn are_columns_known(&self) -> bool {
        true
    }

    /// Whether the format tells numbers from text.
    fn is_typed(&self) -> bool {
        true
    }
}

impl dyn Rows + '_ {
    /// Every name that a column has, with the column's place.
    pub fn names(&self) -> Vec<(&str, usize)> {
        let columns = self.columns();
        let mut names: Vec<(&str, usize)> = columns.iter().map(String::as_str).zip(0..).collect();
        for (alias, name) in self.aliases() {
            let place = columns.iter().position(|column| column == name);
            names.extend(place.map(|place| (*alias, place)));
        }
        names
    }
}

/// Begins to read a file: CSV, TSV, JSON with an object a line, IMDb's `title.basics.tsv`, each also
/// compressed with gzip or zstd, a table of a SQLite database, and Parquet where this crate's feature
/// of that name is on. The path [`STDIN`] stands for stdin.
///
/// # Errors
/// Where the file cannot be opened, its format is not known, or its beginning breaks the format's rules.
pub fn open(path: &Path, settings: &Settings, meter: &Meter) -> Result<Box<dyn Rows>, Error> {
    let input = Input::open(path, meter)?;
    let extension = input.extension();
    let is_wanted = |format: &&Format| match &settings.format {
        Some(name) => format.name == name,
        None => (format.recognises)(&extension, input.head()),
    };
    let format = FORMATS
        .iter()
        .find(is_wanted)
        .ok_or_else(|| Error::UnknownFormat {
            path: input.path().to_owned(),
            known: FORMATS.iter().map(|format| format.description).collect(),
        })?;
    (format.open)(input, settings)
}

/// The error that a column is not there, with those that may have been meant.
pub(crate) fn no_such_column<'a>(
    path: &Path,
    column: &str,
    present: impl IntoIterator<Item = &'a str>,
) -> Error {
    let (are_alike, present) = crate::nearest::nearest(column, present);
    Error::NoSuchColumn {
        path: path.to_owned(),
        column: column.to_owned(),
        are_alike,
        present,
    }
}

#[cfg(test)]
mod tests;
