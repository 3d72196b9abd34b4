//! Arguments: what SQLite hands over, and the ids, times and numbers in it.

use crate::Error;
use inorder_key::{Ulid, UnixTime, Uuid, parse_time};

/// A value that SQLite hands to a function. NULL never gets there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Integer(i64),
    Real,
    Text(&'a [u8]),
    Blob(&'a [u8]),
}

impl Value<'_> {
    /// The error that something else was wanted.
    pub fn unwanted(self, wanted: &'static str) -> Error {
        let found = match self {
            Value::Integer(_) => "an integer",
            Value::Real => "a real number",
            Value::Text(_) => "a text",
            Value::Blob(_) => "a blob",
        };
        Error::Type { wanted, found }
    }

    /// A ULID, from 16 bytes or 26 characters.
    pub fn ulid(self) -> Result<Ulid, Error> {
        match self {
            Value::Blob(blob) => Ok(Ulid::from_slice(blob)?),
            Value::Text(text) => Ok(Ulid::parse(text)?),
            _ => Err(self.unwanted("a ULID, a blob of 16 bytes or a text of 26 characters,")),
        }
    }

    /// A UUID of any version, from 16 bytes or 36 characters.
    pub fn uuid(self) -> Result<Uuid, Error> {
        match self {
            Value::Blob(blob) => Ok(Uuid::from_slice(blob)?),
            Value::Text(text) => Ok(Uuid::parse(text)?),
            _ => Err(self.unwanted("a UUID, a blob of 16 bytes or a text of 36 characters,")),
        }
    }

    /// A time, as milliseconds since 1970 or as text.
    pub fn time(self) -> Result<UnixTime, Error> {
        match self {
            Value::Integer(ms) => Ok(UnixTime::try_from(ms)?),
            Value::Text(text) => Ok(parse_time(&String::from_utf8_lossy(text))?),
            _ => Err(self.unwanted("a time, an integer of milliseconds since 1970 or a text,")),
        }
    }

    /// An integer.
    pub fn integer(self, wanted: &'static str) -> Result<i64, Error> {
        match self {
            Value::Integer(integer) => Ok(integer),
            _ => Err(self.unwanted(wanted)),
        }
    }
}
