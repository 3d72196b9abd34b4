//! Files of rows that people bring, read whole and column by column.
//!
//! A format is one file here and one line in the list `FORMATS`.

mod column;
mod csv;
mod delimited;
mod imdb;
mod input;
mod jsonl;
mod tsv;

use std::path::Path;

use inorder_engine::Column;

use crate::Error;
use input::Input;

/// Every format, the ones known by their content before those known by the file's name.
const FORMATS: &[Format] = &[imdb::FORMAT, csv::FORMAT, tsv::FORMAT, jsonl::FORMAT];

/// A way to write rows in a file.
struct Format {
    /// What a file of this format is, for people who brought another.
    description: &'static str,
    /// Whether a file is of this format, by its extension in lower case (`.gz` left out) or by its
    /// first bytes.
    recognises: fn(extension: &str, head: &[u8]) -> bool,
    /// Reads the columns asked for, or all.
    read: fn(input: Input, columns: Option<&[String]>) -> Result<Table, Error>,
}

/// A file's rows, in memory.
#[derive(Clone, Debug)]
pub struct Table {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// How many rows there are; at least one.
    pub rows: usize,
    /// The columns, in the order of their names, `rows` long each.
    pub values: Vec<Column>,
}

impl Table {
    /// The column with this name, if there is one.
    pub fn column(&self, name: &str) -> Option<&Column> {
        let index = self.columns.iter().position(|column| column == name)?;
        self.values.get(index)
    }
}

/// Reads the rows of a file: CSV and TSV with a header, JSON with an object a line, and IMDb's
/// `title.basics.tsv`, each also compressed with gzip.
///
/// `columns` names what is kept, in this order, once each; without it every column is. A column comes
/// in the leanest form that holds its values: integers, reals or text where they are all of that kind,
/// else [`Column::Any`].
///
/// # Errors
/// Where the file cannot be read, its format is not known or not kept to, it has no rows, or a column
/// asked for is not there.
pub fn read(path: impl AsRef<Path>, columns: Option<&[String]>) -> Result<Table, Error> {
    let input = Input::open(path.as_ref())?;
    let extension = input.extension();
    let format = FORMATS
        .iter()
        .find(|format| (format.recognises)(&extension, input.head()))
        .ok_or_else(|| Error::UnknownFormat {
            path: input.path().to_owned(),
            known: FORMATS.iter().map(|format| format.description).collect(),
        })?;
    (format.read)(input, columns.map(without_repeats).as_deref())
}

fn without_repeats(columns: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::with_capacity(columns.len());
    for column in columns {
        if !kept.contains(column) {
            kept.push(column.clone());
        }
    }
    kept
}

/// The error that a column is not there, with those that may have been meant.
fn no_such_column<'a>(
    path: &Path,
    column: &str,
    present: impl IntoIterator<Item = &'a str>,
) -> Error {
    /// Names less alike than this are listed only where none is.
    const ALIKE: f64 = 0.75;
    const NAMED_MAX: usize = 3;
    let wanted = column.to_lowercase();
    let mut present: Vec<(f64, &str)> = present
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&wanted, &name.to_lowercase()), name))
        .collect();
    let are_alike = present.iter().any(|(likeness, _)| *likeness >= ALIKE);
    if are_alike {
        present.retain(|(likeness, _)| *likeness >= ALIKE);
        present.sort_by(|a, b| b.0.total_cmp(&a.0));
        present.truncate(NAMED_MAX);
    }
    Error::NoSuchColumn {
        path: path.to_owned(),
        column: column.to_owned(),
        are_alike,
        present: present
            .into_iter()
            .map(|(_, name)| name.to_owned())
            .collect(),
    }
}

#[cfg(test)]
mod tests;
