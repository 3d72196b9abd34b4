//! Values in PostgreSQL's wire format: binary for supported types, otherwise text for the type's input function.

use crate::batch::Cell;
use postgres::types::{Format, IsNull, ToSql, Type, private::BytesMut, to_sql_checked};
use std::{error::Error, io::Write as _};

type Failure = Box<dyn Error + Sync + Send>;

/// A buffer for binary values.
pub trait Out {
    /// Appends bytes.
    fn put(&mut self, bytes: &[u8]);
}

impl Out for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// A buffer that discards the values.
struct Nowhere;

impl Out for Nowhere {
    fn put(&mut self, _: &[u8]) {}
}

impl Out for BytesMut {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Types with a supported binary form. Values of all other types are sent as text. So is NULL, because such a type
/// may have no binary form.
const BINARY: &[Type] = &[
    Type::INT2,
    Type::INT4,
    Type::INT8,
    Type::FLOAT8,
    Type::TEXT,
    Type::VARCHAR,
    Type::BYTEA,
    Type::UUID,
];

/// Returns whether the binary form of a type is supported.
pub fn has_binary(ty: &Type) -> bool {
    BINARY.contains(ty)
}

/// Appends the binary form of a value. Returns false if the value has none in this type.
pub fn binary(cell: Cell<'_>, ty: &Type, out: &mut impl Out) -> bool {
    match (cell, ty) {
        (Cell::Integer(value), &Type::INT8) => out.put(&value.to_be_bytes()),
        (Cell::Integer(value), &Type::INT4) => match i32::try_from(value) {
            Ok(value) => out.put(&value.to_be_bytes()),
            Err(_) => return false,
        },
        (Cell::Integer(value), &Type::INT2) => match i16::try_from(value) {
            Ok(value) => out.put(&value.to_be_bytes()),
            Err(_) => return false,
        },
        (Cell::Integer(value), &Type::FLOAT8) => out.put(&(value as f64).to_be_bytes()),
        (Cell::Real(value), &Type::FLOAT8) => out.put(&value.to_be_bytes()),
        (Cell::Text(bytes), &Type::TEXT | &Type::VARCHAR) => out.put(bytes),
        (Cell::Blob(bytes), &Type::BYTEA | &Type::TEXT | &Type::VARCHAR) => out.put(bytes),
        (Cell::Blob(bytes), &Type::UUID) if bytes.len() == 16 => out.put(bytes),
        _ => return false,
    }
    true
}

/// Appends the text of a value.
pub fn text(cell: Cell<'_>, ty: &Type, out: &mut Vec<u8>) {
    let _ = match cell {
        Cell::Null => Ok(()),
        Cell::Integer(value) => write!(out, "{value}"),
        Cell::Real(value) if value.is_infinite() => {
            write!(out, "{}Infinity", if value < 0.0 { "-" } else { "" })
        }
        Cell::Real(value) => write!(out, "{value}"),
        Cell::Text(bytes) => out.write_all(bytes),
        Cell::Blob(bytes) => match *ty {
            Type::TEXT | Type::VARCHAR => out.write_all(bytes),
            Type::UUID => put_hex(bytes, out),
            _ => {
                out.extend_from_slice(b"\\x");
                put_hex(bytes, out)
            }
        },
    };
}

fn put_hex(bytes: &[u8], out: &mut Vec<u8>) -> std::io::Result<()> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        let digits = [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]);
        out.extend_from_slice(&digits);
    }
    Ok(())
}

impl ToSql for Cell<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Failure> {
        if *self == Cell::Null {
            return Ok(IsNull::Yes);
        }
        if !binary(*self, ty, out) {
            let mut own = Vec::new();
            text(*self, ty, &mut own);
            out.put(&own);
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, ty: &Type) -> Format {
        match *self == Cell::Null || binary(*self, ty, &mut Nowhere) {
            true => Format::Binary,
            false => Format::Text,
        }
    }

    to_sql_checked!();
}
