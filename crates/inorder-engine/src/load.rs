//! Tables that rows are loaded into, many at once.

use crate::{ColumnInfo, Database, Error, Writer};
use std::{fmt::Debug, sync::Arc};

/// A load into one table, in one transaction that has begun.
pub struct Load {
    /// Writes the rows, and commits. Whatever ends it before leaves the table as it was. A row that the server
    /// doesn't take is an [`Error::Refused`].
    pub writer: Box<dyn Writer>,
    /// What is worth knowing of how rows are written, in words.
    pub told: Vec<String>,
    /// Whether the load can go on after an [`Error::Refused`] of [`Writer::insert`]: none of the rows of that call
    /// are stored, all of the calls before are.
    pub survives_refusals: bool,
    /// Whether all rows are one statement to the server: which one it refuses is told by [`Writer::complete`].
    pub is_one_statement: bool,
}

/// A value as its source has it, before a column takes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Given<'a> {
    /// No value.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// A number in the digits it was written in.
    Number(&'a [u8]),
    /// Text, or a field of a file that doesn't tell numbers from text.
    Text(&'a [u8]),
    /// A string of JSON, unescaped.
    JsonString(&'a [u8]),
    /// An object or an array of JSON, as text.
    Json(&'a [u8]),
    /// Bytes.
    Blob(&'a [u8]),
}

/// What a column makes of a value: what is sorted and sent.
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

/// How a column of a server takes values.
pub trait Intake: Debug + Send + Sync {
    /// Takes a value. Text and bytes are appended to `out`.
    ///
    /// # Errors
    /// Why the column has no such value, in words. What is left to the server to refuse is no error here.
    fn take(&self, given: Given<'_>, out: &mut Vec<u8>) -> Result<Taken, String>;
}

/// Takes everything as it is, truth values as 1 and 0.
#[derive(Debug)]
pub struct AsGiven;

impl Intake for AsGiven {
    fn take(&self, given: Given<'_>, out: &mut Vec<u8>) -> Result<Taken, String> {
        Ok(match given {
            Given::Null => Taken::Null,
            Given::Bool(bool) => Taken::Integer(bool.into()),
            Given::Integer(integer) => Taken::Integer(integer),
            Given::Real(real) => Taken::Real(real),
            Given::Number(text)
            | Given::Text(text)
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
}

/// A column that rows are loaded into.
#[derive(Clone, Debug)]
pub struct LoadColumn {
    /// Name, type, key.
    pub info: ColumnInfo,
    /// How it takes values.
    pub intake: Arc<dyn Intake>,
    /// Where text of one shape (UUID, hex, …) in all of the first rows is turned into bytes without being asked: how
    /// many bytes text has at most that the column takes as it is. Only longer text is turned into bytes.
    pub guesses_bytes: Option<usize>,
    /// Whether the server takes two values for the same only where its intake makes the same of them. Otherwise who
    /// is a duplicate is the server's to say.
    pub is_exact: bool,
    /// Whether the server counts it as rows come, where they don't give it.
    pub is_counted: bool,
}

impl LoadColumn {
    /// A column that takes everything as it is.
    pub fn as_given(info: ColumnInfo) -> Self {
        let declared_type = info.declared_type.to_ascii_lowercase();
        let is_any = |words: &[&str]| words.iter().any(|word| declared_type.contains(word));
        LoadColumn {
            intake: Arc::new(AsGiven),
            guesses_bytes: is_any(&["bytea", "blob", "binary", "uuid"]).then_some(0),
            is_exact: true,
            is_counted: false,
            info,
        }
    }
}

/// A table as a load has to know it.
#[derive(Clone, Debug, Default)]
pub struct LoadShape {
    /// Its columns, in order; empty when there is no such table.
    pub columns: Vec<LoadColumn>,
    /// Why rows have to come in the order of the input, and no row may be left out before the server has seen it, in
    /// words; nothing where that is all the same.
    pub why_in_input_order: Option<String>,
}

/// A table that rows are loaded into, wherever they lie.
pub trait LoadTable: Send + Sync {
    /// What it is like.
    ///
    /// # Errors
    /// When the engine doesn't answer.
    fn shape(&self) -> Result<LoadShape, Error>;

    /// Begins to load rows into these columns. With `survives_refusals` the load is to go on after rows that the server
    /// doesn't take: see [`Load::survives_refusals`] for whether it can.
    ///
    /// # Errors
    /// When the table or a column isn't there.
    fn load(&self, columns: &[&str], survives_refusals: bool) -> Result<Load, Error>;
}

/// A table of one database.
pub struct DatabaseTable {
    database: Arc<dyn Database>,
    name: String,
}

impl DatabaseTable {
    /// The table of this name, which need not be there.
    pub fn new(database: Arc<dyn Database>, name: &str) -> Self {
        DatabaseTable {
            database,
            name: name.to_owned(),
        }
    }
}

impl LoadTable for DatabaseTable {
    fn shape(&self) -> Result<LoadShape, Error> {
        self.database.load_shape(&self.name)
    }

    fn load(&self, columns: &[&str], survives_refusals: bool) -> Result<Load, Error> {
        self.database.load(&self.name, columns, survives_refusals)
    }
}
