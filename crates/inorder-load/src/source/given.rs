//! A row that the caller of a load fills.

use rusqlite::types::ValueRef;

use super::row::{Field, ROW_BYTES_MAX, Row};

/// A row, which takes its values one after another.
pub struct GivenRow<'a> {
    row: &'a mut Row,
    is_too_long: bool,
}

impl<'a> GivenRow<'a> {
    /// Empties a row for the values that follow.
    pub(crate) fn begin(row: &'a mut Row, ordinal: u64) -> Self {
        row.begin(ordinal);
        GivenRow {
            row,
            is_too_long: false,
        }
    }

    /// Appends the value of the next column, in the order of their declaration. The column converts it as an INSERT does.
    #[inline]
    pub fn push(&mut self, value: ValueRef<'_>) {
        let field = match value {
            ValueRef::Null => Field::Null,
            ValueRef::Integer(integer) => Field::Integer(integer),
            ValueRef::Real(real) => Field::Real(real),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes)
                if self.row.bytes.len() + bytes.len() > ROW_BYTES_MAX =>
            {
                self.is_too_long = true;
                Field::Null
            }
            ValueRef::Text(text) => Field::Text(self.row.keep(text)),
            ValueRef::Blob(blob) => Field::Blob(self.row.keep(blob)),
        };
        self.row.fields.push(field);
    }

    /// Ends the row.
    ///
    /// # Errors
    /// If it is longer than SQLite allows.
    pub(crate) fn end(self) -> Result<(), String> {
        match self.is_too_long {
            true => Err(format!("it has more than {ROW_BYTES_MAX} bytes")),
            false => Ok(()),
        }
    }
}
