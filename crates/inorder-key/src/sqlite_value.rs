//! Ids as values of SQLite, with rusqlite: 16 bytes, a TSID as an integer, a TypeID as text.

use alloc::string::ToString as _;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use crate::{Tsid, TypeId, Ulid, Uuid};

/// Converts an error of reading an id.
fn other(error: crate::Error) -> FromSqlError {
    FromSqlError::Other(error.into())
}

macro_rules! sixteen_bytes {
    ($name:ident) => {
        impl ToSql for $name {
            /// Returns a blob of 16 bytes.
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::from(self.to_bytes().to_vec()))
            }
        }

        impl FromSql for $name {
            /// Reads a blob of 16 bytes, or text.
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                match value {
                    ValueRef::Blob(blob) => $name::from_slice(blob).map_err(other),
                    ValueRef::Text(text) => $name::parse(text).map_err(other),
                    _ => Err(FromSqlError::InvalidType),
                }
            }
        }
    };
}

sixteen_bytes!(Ulid);
sixteen_bytes!(Uuid);

impl ToSql for Tsid {
    /// Returns an integer.
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.to_i64()))
    }
}

impl FromSql for Tsid {
    /// Reads an integer, or text.
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Integer(integer) => Tsid::from_i64(integer).map_err(other),
            ValueRef::Text(text) => Tsid::parse(text).map_err(other),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

impl ToSql for TypeId {
    /// Returns text.
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.to_string()))
    }
}

impl FromSql for TypeId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        TypeId::parse(value.as_str()?).map_err(other)
    }
}
