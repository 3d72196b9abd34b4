//! Bulk loads of rows into a table.

use crate::{ColumnInfo, Error, TableChange, Writer};
use std::{fmt::Debug, sync::Arc, time::Duration};

/// A load into one table, in one open transaction.
pub struct Load {
    /// Writer of the rows, which also commits. If the load ends before, the table is unchanged. A row that the server
    /// refuses is an [`Error::Refused`].
    pub writer: Box<dyn Writer>,
    /// The writing method, for messages.
    pub told: Vec<String>,
    /// Whether the load can continue after an [`Error::Refused`] of [`Writer::insert`]. No row of the failed
    /// call is stored then, and all rows of earlier calls are.
    pub survives_refusals: bool,
    /// Whether the server receives all rows in one statement. [`Writer::complete`] then reports the refused
    /// row.
    pub is_one_statement: bool,
}

/// A value of a data source, before a column converts it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Given<'a> {
    /// No value.
    Null,
    /// A Boolean value.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// A number as its digits.
    Number(&'a [u8]),
    /// Text, or a field of a file format that does not distinguish numbers from text.
    Text(&'a [u8]),
    /// A point in time, as text in UTC without a zone, such as `2023-11-14 22:13:20.123`.
    Instant(&'a [u8]),
    /// A string of JSON, unescaped.
    JsonString(&'a [u8]),
    /// An object or an array of JSON, as text.
    Json(&'a [u8]),
    /// Bytes.
    Blob(&'a [u8]),
}

/// A value after its conversion for a column, which is sorted and sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Taken {
    /// NULL.
    Null,
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// Text: the bytes that were appended.
    Text,
    /// Bytes: those that were appended.
    Blob,
}

/// Conversion of values for a column of a server.
pub trait Intake: Debug + Send + Sync {
    /// Converts a value. Text and bytes are appended to `out`.
    ///
    /// # Errors
    /// The reason why the column cannot store the value, for messages. Values that only the server can check return no
    /// error here.
    fn take(&self, given: Given<'_>, out: &mut Vec<u8>) -> Result<Taken, String>;

    /// Returns whether the type of the column is a type of numbers, so that text for it may be a number in another
    /// notation.
    fn is_numeric(&self) -> bool {
        false
    }

    /// Returns whether the column stores a point in time correctly only if the time zone of the session is UTC
    /// ([`TableChange::is_utc`]).
    fn needs_utc(&self) -> bool {
        false
    }
}

/// Keeps every value unchanged, except that Boolean values become 1 and 0.
#[derive(Debug)]
struct AsGiven {
    is_numeric: bool,
}

impl Intake for AsGiven {
    fn take(&self, given: Given<'_>, out: &mut Vec<u8>) -> Result<Taken, String> {
        Ok(match given {
            Given::Null => Taken::Null,
            Given::Bool(bool) => Taken::Integer(bool.into()),
            Given::Integer(integer) => Taken::Integer(integer),
            Given::Real(real) => Taken::Real(real),
            Given::Number(text)
            | Given::Text(text)
            | Given::Instant(text)
            | Given::JsonString(text)
            | Given::Json(text) => {
                out.extend_from_slice(text);
                Taken::Text
            }
            Given::Blob(blob) => {
                out.extend_from_slice(blob);
                Taken::Blob
            }
        })
    }

    fn is_numeric(&self) -> bool {
        self.is_numeric
    }
}

/// The first words of types of numbers, but for those that contain `int`.
const NUMERIC: &[&str] = &["numeric", "decimal", "real", "double", "float", "money"];

/// A column of a load.
#[derive(Clone, Debug)]
pub struct LoadColumn {
    /// Name, type, key.
    pub info: ColumnInfo,
    /// Conversion of its values.
    pub intake: Arc<dyn Intake>,
    /// Maximum length in bytes of text that the column accepts unchanged. If all first rows have text of one form
    /// (UUID, hex, …), longer text is converted to bytes.
    pub guesses_bytes: Option<usize>,
    /// Whether two values are equal on the server only if their conversions are equal. If not, only the server can
    /// detect duplicates.
    pub is_exact: bool,
    /// Whether the server generates missing values as rows arrive.
    pub is_counted: bool,
}

impl LoadColumn {
    /// Creates a column that keeps every value unchanged.
    pub(crate) fn as_given(info: ColumnInfo) -> Self {
        let declared_type = info.declared_type.to_ascii_lowercase();
        let is_any = |words: &[&str]| words.iter().any(|word| declared_type.contains(word));
        let word = declared_type.split([' ', '(']).next().unwrap_or_default();
        let is_integer =
            word.trim_end_matches(char::is_numeric).ends_with("int") && word != "point";
        let is_numeric = is_integer || word.starts_with("integer") || NUMERIC.contains(&word);
        LoadColumn {
            intake: Arc::new(AsGiven { is_numeric }),
            guesses_bytes: is_any(&["bytea", "blob", "binary", "uuid"]).then_some(0),
            is_exact: true,
            is_counted: false,
            info,
        }
    }
}

/// Properties of a table that a load needs.
#[derive(Clone, Debug, Default)]
pub struct LoadShape {
    /// Its columns, in order; empty when there is no such table.
    pub columns: Vec<LoadColumn>,
    /// Why the rows must be sent in the order of the input, and why no row may be left out before the server checks
    /// it, in words. `None` if neither is necessary.
    pub why_in_input_order: Option<String>,
    /// The statements that create the table, for messages. `None` if it exists.
    pub created: Option<String>,
}

/// A table for a load, on one server or on several.
pub trait LoadTable: Send + Sync {
    /// Returns the properties of the table.
    ///
    /// # Errors
    /// If the engine does not answer.
    fn shape(&self) -> Result<LoadShape, Error>;

    /// Begins a load into these columns. With `survives_refusals` the load continues after refused rows, if
    /// [`Load::survives_refusals`] is set.
    ///
    /// # Errors
    /// If the table or a column is missing.
    fn load(&self, columns: &[&str], survives_refusals: bool) -> Result<Load, Error>;

    /// Returns whether the table has rows, or `None` if it is missing. Waits so long for a lock.
    ///
    /// # Errors
    /// If the engine does not answer.
    fn has_rows(&self, lock_max: Duration) -> Result<Option<bool>, Error>;

    /// Returns the table for a load that also makes this change. Nothing is changed before [`LoadTable::load`].
    ///
    /// # Errors
    /// If the engine does not support changes.
    fn changed(self: Box<Self>, change: TableChange) -> Result<Box<dyn LoadTable>, Error>;
}
