//! Values as PostgreSQL's wire format: binary where the column's type has the value's own form,
//! else the text that its input function reads.

use crate::batch::Cell;
use postgres::types::{Format, IsNull, ToSql, Type, private::BytesMut, to_sql_checked};
use std::{error::Error, io::Write as _};

type Failure = Box<dyn Error + Sync + Send>;

/// The value as the binary form of a type, where it has one.
fn binary(cell: Cell<'_>, ty: &Type, out: &mut BytesMut) -> Option<Result<(), Failure>> {
    let mut put = |bytes: &[u8]| out.extend_from_slice(bytes);
    match (cell, ty) {
        (Cell::Integer(value), &Type::INT8) => put(&value.to_be_bytes()),
        (Cell::Integer(value), &Type::INT4) => match i32::try_from(value) {
            Ok(value) => put(&value.to_be_bytes()),
            Err(_) => return Some(Err(format!("{value} is out of range for integer").into())),
        },
        (Cell::Integer(value), &Type::INT2) => match i16::try_from(value) {
            Ok(value) => put(&value.to_be_bytes()),
            Err(_) => return Some(Err(format!("{value} is out of range for smallint").into())),
        },
        (Cell::Integer(value), &Type::FLOAT8) => put(&(value as f64).to_be_bytes()),
        (Cell::Real(value), &Type::FLOAT8) => put(&value.to_be_bytes()),
        (Cell::Real(value), &Type::FLOAT4) => put(&(value as f32).to_be_bytes()),
        (Cell::Text(bytes) | Cell::Blob(bytes), &Type::BYTEA | &Type::TEXT | &Type::VARCHAR) => {
            put(bytes);
        }
        (Cell::Blob(bytes), &Type::UUID) if bytes.len() == 16 => put(bytes),
        _ => return None,
    }
    Some(Ok(()))
}

fn text(cell: Cell<'_>, out: &mut BytesMut) {
    match cell {
        Cell::Null => {}
        Cell::Integer(value) => out.extend_from_slice(value.to_string().as_bytes()),
        Cell::Real(value) => out.extend_from_slice(value.to_string().as_bytes()),
        Cell::Text(bytes) => out.extend_from_slice(bytes),
        Cell::Blob(bytes) => {
            let mut digits = b"\\x".to_vec();
            for byte in bytes {
                let _ = write!(digits, "{byte:02x}");
            }
            out.extend_from_slice(&digits);
        }
    }
}

/// Whether [`binary`] knows the form.
fn is_binary(cell: Cell<'_>, ty: &Type) -> bool {
    match cell {
        Cell::Null => true,
        Cell::Integer(_) => matches!(*ty, Type::INT8 | Type::INT4 | Type::INT2 | Type::FLOAT8),
        Cell::Real(_) => matches!(*ty, Type::FLOAT8 | Type::FLOAT4),
        Cell::Text(_) => matches!(*ty, Type::BYTEA | Type::TEXT | Type::VARCHAR),
        Cell::Blob(bytes) => match *ty {
            Type::UUID => bytes.len() == 16,
            _ => matches!(*ty, Type::BYTEA | Type::TEXT | Type::VARCHAR),
        },
    }
}

impl ToSql for Cell<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Failure> {
        if *self == Cell::Null {
            return Ok(IsNull::Yes);
        }
        match binary(*self, ty, out) {
            Some(done) => done?,
            None => text(*self, out),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, ty: &Type) -> Format {
        match is_binary(*self, ty) {
            true => Format::Binary,
            false => Format::Text,
        }
    }

    to_sql_checked!();
}
