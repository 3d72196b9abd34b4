//! Helpers for SQL statements.

use inorder_btree::{Record, TextEncoding, Value};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ErrorCode, Statement};

/// Quotes a name for SQL.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns the place of a name among others. An exact match goes before one in another letter case, which must be the
/// only one.
pub(crate) fn place_of<'a>(
    wanted: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Option<usize> {
    if let Some(exact) = names.clone().position(|name| name == wanted) {
        return Some(exact);
    }
    let mut alike = names
        .enumerate()
        .filter(|(_, name)| name.eq_ignore_ascii_case(wanted));
    let (place, _) = alike.next()?;
    alike.next().is_none().then_some(place)
}

/// Decodes text of a database in this encoding. Malformed sequences become U+FFFD.
pub(crate) fn decoded(encoding: TextEncoding, text: &[u8]) -> String {
    let units = |of: fn([u8; 2]) -> u16| -> String {
        let units: Vec<u16> = text
            .as_chunks::<2>()
            .0
            .iter()
            .map(|unit| of(*unit))
            .collect();
        String::from_utf16_lossy(&units)
    };
    match encoding {
        TextEncoding::Utf8 => String::from_utf8_lossy(text).into_owned(),
        TextEncoding::Utf16Le => units(u16::from_le_bytes),
        TextEncoding::Utf16Be => units(u16::from_be_bytes),
    }
}

/// Binds the values of a record, its text in this encoding, to the parameters after `before`.
pub(crate) fn bind(
    statement: &mut Statement<'_>,
    before: usize,
    record: &[u8],
    encoding: TextEncoding,
) -> rusqlite::Result<()> {
    let values = Record::parse(record).expect("an encoded record").values();
    for (value, parameter) in values.zip(before + 1..) {
        let utf8;
        let value = match value {
            Value::Null => ValueRef::Null,
            Value::Integer(integer) => ValueRef::Integer(integer),
            Value::Real(real) => ValueRef::Real(real),
            Value::Blob(blob) => ValueRef::Blob(blob),
            Value::Text(text) if encoding == TextEncoding::Utf8 => ValueRef::Text(text),
            Value::Text(text) => {
                utf8 = decoded(encoding, text);
                ValueRef::Text(utf8.as_bytes())
            }
        };
        statement.raw_bind_parameter(parameter, ToSqlOutput::Borrowed(value))?;
    }
    Ok(())
}

/// Whether an error is about one row, so that others may still be inserted.
pub(crate) fn is_of_a_row(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    // The error of an expression in the schema, such as an overflow.
    let is_of_an_expression = code == Some(rusqlite::ffi::SQLITE_ERROR);
    let is_of_a_value = matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::TooBig)
    );
    is_of_a_value || is_of_an_expression
}
