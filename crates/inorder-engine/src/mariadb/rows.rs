//! Formats rows for LOAD DATA and INSERT.
//!
//! `uuids` tells for each column whether its type is UUID; a column beyond its end has another type. 16 bytes for such a column are
//! sent as text. Of some values that it gets as bytes, the server returns another id; as text it refuses them.

use crate::{Batch, batch::Cell, server::sql};
use inorder_key::Uuid;
use std::{fmt::Write as _, io::Write as _, ops::Range};

/// Formats rows for LOAD DATA: one line per row, tabs between values, `\` as the escape character.
pub fn lines(batch: &Batch, rows: Range<usize>, uuids: &[bool]) -> Vec<u8> {
    let mut out = Vec::new();
    for row in rows {
        for (at, cell) in sql::cells(batch, row..row + 1).enumerate() {
            if at > 0 {
                out.push(b'\t');
            }
            match cell {
                Cell::Null => out.extend_from_slice(b"\\N"),
                Cell::Integer(integer) => _ = write!(out, "{integer}"),
                Cell::Real(real) => _ = write!(out, "{real:e}"),
                Cell::Text(bytes) => escape(bytes, &mut out),
                Cell::Blob(bytes) => match uuid(bytes, uuids.get(at)) {
                    Some(uuid) => _ = write!(out, "{uuid}"),
                    None => escape(bytes, &mut out),
                },
            }
        }
        out.push(b'\n');
    }
    out
}

fn uuid(bytes: &[u8], is_uuid: Option<&bool>) -> Option<Uuid> {
    let bytes = bytes.try_into().ok().filter(|_| is_uuid == Some(&true))?;
    Some(Uuid::from_bytes(bytes))
}

fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        match byte {
            0 => out.extend_from_slice(b"\\0"),
            b'\t' | b'\n' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            _ => out.push(byte),
        }
    }
}

/// Appends a row for an INSERT: text in quotes with `\` as the escape character, blobs in hexadecimal.
pub fn literals(batch: &Batch, row: usize, uuids: &[bool], out: &mut String) {
    out.push('(');
    for (at, cell) in sql::cells(batch, row..row + 1).enumerate() {
        if at > 0 {
            out.push(',');
        }
        match cell {
            Cell::Null => out.push_str("NULL"),
            Cell::Integer(integer) => _ = write!(out, "{integer}"),
            Cell::Real(real) if real.is_finite() => _ = write!(out, "{real:e}"),
            // The server refuses an infinite number as out of range.
            Cell::Real(real) if real.is_infinite() => {
                out.push_str(if real > 0.0 { "1e999" } else { "-1e999" });
            }
            Cell::Real(_) => out.push_str("NULL"),
            Cell::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => quote(text, out),
                // The server refuses it as invalid UTF-8.
                Err(_) => hexadecimal("_utf8mb4 X'", bytes, out),
            },
            Cell::Blob(bytes) => match uuid(bytes, uuids.get(at)) {
                Some(uuid) => _ = write!(out, "'{uuid}'"),
                None => hexadecimal("X'", bytes, out),
            },
        }
    }
    out.push(')');
}

fn quote(text: &str, out: &mut String) {
    out.push('\'');
    let mut rest = text;
    while let Some(at) = rest.find(['\'', '\\', '\0']) {
        out.push_str(&rest[..at]);
        out.push_str(match rest.as_bytes()[at] {
            b'\'' => "''",
            b'\\' => "\\\\",
            _ => "\\0",
        });
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('\'');
}

fn hexadecimal(introducer: &str, bytes: &[u8], out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.push_str(introducer);
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            out.push(DIGITS[usize::from(digit)].into());
        }
    }
    out.push('\'');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Value};

    #[test]
    fn values_are_spelled_so_that_none_ends_before_its_end() {
        let row = [
            Value::Null,
            Value::Integer(-7),
            Value::Real(-1e300),
            Value::Text("it's a \\ tab\t\0\n\u{1f600}".into()),
            Value::Blob([0, 9, 0x5c, 0xff].into()),
            Value::Blob([0xab; 16].into()),
        ];
        let uuids = [false, false, false, false, true, true];
        let batch = Batch {
            columns: row.map(|value| Column::Any(vec![value])).into(),
        };
        let mut insert = String::new();
        literals(&batch, 0, &uuids, &mut insert);
        assert_eq!(
            insert,
            "(NULL,-7,-1e300,'it''s a \\\\ tab\t\\0\n\u{1f600}',X'00095cff','abababab-abab-abab-abab-abababababab')"
        );
        assert_eq!(
            lines(&batch, 0..1, &uuids),
            [
                "\\N\t-7\t-1e300\tit's a \\\\ tab\\\t\\0\\\n\u{1f600}\t\\0\\\t\\\\".as_bytes(),
                b"\xff\tabababab-abab-abab-abab-abababababab\n"
            ]
            .concat()
        );
    }
}
