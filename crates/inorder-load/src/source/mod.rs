//! The inputs of a load: files in several formats, read row by row.
//!
//! A format is one file here and one line in the list [`FORMATS`].

mod column;
mod csv;
mod dates;
mod decimal;
mod delimited;
mod encoding;
mod escapes;
mod feed;
mod given;
mod imdb;
mod input;
mod json;
mod jsonl;
mod meter;
mod names;
mod not_finite;
mod object;
mod optional;
#[cfg(feature = "parquet")]
mod parquet;
mod paths;
mod quoting;
mod row;
mod sniff;
mod splitter;
#[cfg(feature = "xlsx")]
mod spreadsheet;
mod sqlite;
mod stdin;
mod table;
mod tally;
mod text;
mod tsv;
mod url;

use std::path::Path;

use crate::Error;
use crate::note::Note;
use input::Input;

pub use dates::DateOrder;
pub(crate) use dates::{Dated, orders_of};
pub use given::GivenRow;
pub use input::STDIN;
pub(crate) use meter::Meter;
pub use paths::{Location, expand};
pub(crate) use row::{Raw, Row};
pub(crate) use stdin::{KeptStdin, forget_stdin};
pub use table::{Table, read};
pub(crate) use tally::Tally;
pub use url::Downloads;
pub(crate) use url::is_url;

/// Every format. Those recognised by content come before those recognised by the extension.
pub const FORMATS: &[Format] = &[
    imdb::FORMAT,
    sqlite::FORMAT,
    optional::PARQUET,
    optional::SPREADSHEET,
    csv::FORMAT,
    tsv::FORMAT,
    json::FORMAT,
    jsonl::FORMAT,
    text::FORMAT,
];

/// Begins to read a file of some format.
type Open = fn(input: Input, settings: &ReadOptions) -> Result<Box<dyn Rows>, Error>;

/// A file format.
pub struct Format {
    /// The name that [`ReadOptions::format`] takes.
    pub name: &'static str,
    /// A description for error messages.
    pub description: &'static str,
    /// Whether a file is of this format, by its extension in lower case (that of a compression left
    /// out) or by its first bytes.
    recognises: fn(extension: &str, head: &[u8]) -> bool,
    /// Begins to read.
    open: Open,
}

/// Programs whose delimited text is not written as RFC 4180 says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenBy {
    /// Excel: a first line such as `sep=;`, a decimal comma beside semicolons, and windows-1252 where the text is not UTF-8.
    Excel,
    /// Spark: a backslash before quotes in quotes.
    Spark,
    /// MySQL and MariaDB (`SELECT … INTO OUTFILE`): tabs, backslash escapes, `\N` for NULL, no header.
    MySql,
    /// PostgreSQL's `COPY` in text format: tabs, backslash escapes, `\N` for NULL, no header.
    PgText,
}

impl WrittenBy {
    /// Every value with its name.
    pub const ALL: &[(&str, WrittenBy)] = &[
        ("excel", WrittenBy::Excel),
        ("spark", WrittenBy::Spark),
        ("mysql", WrittenBy::MySql),
        ("pg-text", WrittenBy::PgText),
    ];

    /// Whether a backslash escapes any character, there are no quotes, and a tab separates fields.
    fn is_of_server(self) -> bool {
        matches!(self, WrittenBy::MySql | WrittenBy::PgText)
    }
}

/// Settings that replace the defaults of a file's format.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The name of the format (see [`FORMATS`]); `None` recognises it by the file's name and content.
    pub format: Option<String>,
    /// The name of the encoding of text, as in HTML. `None` is UTF-8, or UTF-16 if the first bytes say so.
    pub encoding: Option<String>,
    /// The lines before the text that are not read.
    pub lines_skipped: u64,
    /// The byte between two fields; `None` finds it from the content.
    pub delimiter: Option<u8>,
    /// The quote character; `Some(None)` for none, `None` finds it from the content.
    pub quote: Option<Option<u8>>,
    /// Lines of a delimited file that begin with this byte are left out.
    pub comment: Option<u8>,
    /// Whether the first record of a delimited file has the names of the columns. Otherwise they are `c1`, `c2` and so
    /// on. `None` decides that from the content.
    pub has_header: Option<bool>,
    /// Whether missing fields at the end of a record are NULL, and empty ones too many are left out.
    pub pads_records: bool,
    /// Whether numbers of a delimited file have a decimal comma, as in `1.234,50`. `None` is no, unless the dialect says otherwise.
    pub has_decimal_comma: Option<bool>,
    /// The program that wrote a delimited file, if its writing is not the usual.
    pub dialect: Option<WrittenBy>,
    /// The character that makes the quote after it text.
    pub escape: Option<u8>,
    /// Whether the members of nested JSON objects are columns, as in `address_city`.
    pub flattens: bool,
    /// The unquoted fields that mean NULL; `None` for the format's own.
    pub nulls: Option<Vec<String>>,
    /// The table, for an input that is a database, or the sheet of a workbook.
    pub table: Option<String>,
    /// What is downloaded for inputs that are URLs.
    pub downloads: Downloads,
}

/// The rows of one file, one after another.
pub(crate) trait Rows: Send {
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

    /// Splits rows off that another thread can read beside these, about so many bytes of text. Takes the memory of an
    /// earlier part. `None` if that is not possible here: [`Rows::next`] reads on, and a later part may be possible.
    ///
    /// # Errors
    /// If the file can't be read.
    fn part(
        &mut self,
        _bytes: usize,
        _memory: &mut Vec<u8>,
    ) -> Result<Option<Box<dyn Rows>>, Error> {
        Ok(None)
    }

    /// The memory of a part, to be used again.
    fn into_memory(self: Box<Self>) -> Vec<u8> {
        Vec::new()
    }

    /// The bytes of the last row as they are in the file, for a list of rejects; empty where a format
    /// has no text.
    fn last(&self) -> &[u8] {
        &[]
    }

    /// Whether no row to come can name further columns.
    fn are_columns_known(&self) -> bool {
        true
    }

    /// Whether the columns have no names of their own.
    fn are_columns_nameless(&self) -> bool {
        false
    }

    /// What was found from the content of the file and is not the usual.
    fn remarks(&self) -> &[Note] {
        &[]
    }

    /// The count of what the file has and the rows do not have as it is given, if the format counts that.
    fn tally(&self) -> Option<Tally> {
        None
    }

    /// Whether the format tells numbers from text.
    fn is_typed(&self) -> bool {
        true
    }

    /// Whether numbers that the format writes in digits are decimals, and not those of floating-point numbers.
    fn has_decimals(&self) -> bool {
        false
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

/// Opens a file: CSV, TSV, JSON with one object per line, or IMDb's `title.basics.tsv`, each also compressed with gzip
/// or zstd; a table of a SQLite database; Parquet and worksheets if this crate's features `parquet` and `xlsx` are on. The
/// path [`STDIN`] means stdin; URLs are read if the feature `url` is on.
///
/// # Errors
/// If the file cannot be opened, its format is unknown, or its beginning violates the format's rules.
pub(crate) fn open_rows(
    path: &Path,
    options: &ReadOptions,
    meter: &Meter,
) -> Result<Box<dyn Rows>, Error> {
    let input = Input::open(path, options, meter)?;
    let extension = input.extension();
    // A dialect is one of delimited text.
    let named = options.format.as_deref();
    let named = named.or(options.dialect.map(|_| csv::FORMAT.name));
    let is_wanted = |format: &&Format| match named {
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
    (format.open)(input, options)
}

#[cfg(test)]
mod tests;
