//! Rows by COPY: in binary if each value has a supported binary form, otherwise as text that the server parses.

use super::bind;
use crate::{Batch, Error, batch::Cell, server::Failure, server::sql};
use postgres::{Client, types::Type};
use std::{io::Write as _, ops::Range};

/// A COPY into columns of a table.
#[derive(Clone, Debug)]
pub struct Copy {
    /// The statement for text.
    pub statement: String,
    /// Name of the table without its schema, as errors contain it.
    pub table: String,
    /// The columns' names.
    pub columns: Vec<String>,
    /// Their types, domains resolved.
    pub types: Vec<Type>,
}

/// The signature, flags and the length of an extension: <https://www.postgresql.org/docs/15/sql-copy.html>, "Binary Format".
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// Sends rows. Returns the number of rows that the server stored.
pub fn send(
    client: &mut Client,
    statement: &str,
    types: &[Type],
    batch: &Batch,
    rows: Range<usize>,
) -> Result<u64, postgres::Error> {
    let mut out = Vec::new();
    let binary = binary(types, batch, rows.clone(), &mut out);
    if !binary {
        out.clear();
        text(types, batch, rows, &mut out);
    }
    let format = if binary { " BINARY" } else { "" };
    let mut sink = client.copy_in(&format!("{statement}{format}"))?;
    // `finish` returns the error.
    let _ = sink.write_all(&out);
    sink.finish()
}

/// Formats rows in binary. Returns false if a value has no binary form.
fn binary(types: &[Type], batch: &Batch, rows: Range<usize>, out: &mut Vec<u8>) -> bool {
    let is_known = types.iter().all(bind::has_binary);
    let Some(columns) = i16::try_from(types.len()).ok().filter(|_| is_known) else {
        return false;
    };
    out.extend_from_slice(HEADER);
    for row in rows {
        out.extend_from_slice(&columns.to_be_bytes());
        for (column, ty) in batch.columns.iter().zip(types) {
            let at = out.len();
            out.extend_from_slice(&(-1_i32).to_be_bytes());
            let cell = column.cell(row);
            if cell == Cell::Null {
                continue;
            }
            if !bind::binary(cell, ty, out) {
                return false;
            }
            let Ok(length) = i32::try_from(out.len() - at - 4) else {
                return false;
            };
            out[at..at + 4].copy_from_slice(&length.to_be_bytes());
        }
    }
    out.extend_from_slice(&(-1_i16).to_be_bytes());
    true
}

/// Formats rows as text: one line per row, tabs between values, `\` as the escape character.
pub fn text(types: &[Type], batch: &Batch, rows: Range<usize>, out: &mut Vec<u8>) {
    let mut value = Vec::new();
    for row in rows {
        for (at, (column, ty)) in batch.columns.iter().zip(types).enumerate() {
            if at > 0 {
                out.push(b'\t');
            }
            match column.cell(row) {
                Cell::Null => out.extend_from_slice(b"\\N"),
                Cell::Text(text) => escape(text, out),
                cell => {
                    value.clear();
                    bind::text(cell, ty, &mut value);
                    escape(&value, out);
                }
            }
        }
        out.push(b'\n');
    }
}

/// Appends a value with the escape sequences of the text format of COPY
/// (<https://www.postgresql.org/docs/15/sql-copy.html>).
pub fn escape(text: &[u8], out: &mut Vec<u8>) {
    let is_special = |byte: &u8| matches!(byte, b'\\' | b'\n' | b'\r' | b'\t');
    let mut rest = text;
    while let Some(at) = rest.iter().position(is_special) {
        out.extend_from_slice(&rest[..at]);
        let letter = match rest[at] {
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            byte => byte,
        };
        out.extend_from_slice(&[b'\\', letter]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// Classes of errors that are not caused by a row: connection, transaction, resources, operator intervention, system.
const NOT_OF_A_ROW: [&str; 7] = ["08", "25", "40", "53", "57", "58", "F0"];

impl Copy {
    /// Sends rows. Returns the number of rows that the server stored.
    ///
    /// # Errors
    /// [`Error::Refused`] with the row if the server names it.
    pub fn send(
        &self,
        client: &mut Client,
        batch: &Batch,
        rows: Range<usize>,
    ) -> Result<u64, Error> {
        let first = rows.start;
        sql::fits(self.types.len(), batch, rows.end).map_err(|message| Error::Database {
            doing: self.statement.clone(),
            message,
        })?;
        send(client, &self.statement, &self.types, batch, rows)
            .map_err(|error| self.refused(error, first))
    }

    /// Returns the error of a COPY whose first row was this one.
    pub fn refused(&self, error: postgres::Error, first: usize) -> Error {
        let Some(told) = error.as_db_error() else {
            return Failure::from(error).doing(&*self.statement);
        };
        let code = told.code().code();
        let place = told
            .where_()
            .and_then(|context| place(context, &self.table, &self.columns));
        let is_of_a_row = (place.is_some() && !NOT_OF_A_ROW.contains(&&code[..2]))
            || ["22", "23"].contains(&&code[..2]);
        if !is_of_a_row {
            return Failure::from(error).doing(&*self.statement);
        }
        let column = place.as_ref().and_then(|place| place.column.clone());
        let column = column.or(told.column().map(str::to_owned));
        let column = column.map_or(String::new(), |column| format!("column `{column}`: "));
        let detail = told.detail().map(|detail| format!(": {detail}"));
        Error::Refused {
            table: self.table.clone(),
            row: place.map(|place| first + place.line - 1),
            message: format!("{column}{}{}", told.message(), detail.unwrap_or_default()),
            is_duplicate: ["23505", "23P01"].contains(&code),
        }
    }
}

/// Position of an error in the sent rows.
#[derive(Debug, PartialEq)]
struct Place {
    /// From 1.
    line: usize,
    column: Option<String>,
}

/// Reads the position from the context of an error, `COPY t, line 3, column a: "x"`, in any language. The line number
/// follows the table's name. The column's name follows up to a colon or comma.
fn place(context: &str, table: &str, columns: &[String]) -> Option<Place> {
    let after_name = |line: &'_ str| -> Option<usize> {
        let at = line.find("COPY")?;
        line[at..].find(table).map(|name| at + name + table.len())
    };
    let (line, end) = context
        .lines()
        .find_map(|line| after_name(line).map(|end| (line, end)))?;
    let rest = &line[end..];
    let start = rest.find(|char: char| char.is_ascii_digit())?;
    let digits = &rest[start..];
    let length = digits.find(|char: char| !char.is_ascii_digit());
    let (number, rest) = digits.split_at(length.unwrap_or(digits.len()));
    let names = |name: &&String| {
        let after = rest
            .find(&format!(" {name}"))
            .map(|at| &rest[at + 1 + name.len()..]);
        // A value follows a colon: the name precedes the first one.
        let is_first = |after: &str| !rest[..rest.len() - after.len() - name.len()].contains(':');
        after.is_some_and(|after| {
            is_first(after) && (after.is_empty() || after.starts_with([':', ',', ' ']))
        })
    };
    Some(Place {
        line: number.parse().ok()?,
        column: columns
            .iter()
            .filter(names)
            .max_by_key(|name| name.len())
            .cloned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_an_error_is_read_off_its_context() {
        let columns = ["a", "a b", "line"].map(str::to_owned);
        for (context, line, column) in [
            (r#"COPY t 2, line 3, column a: "x: 9""#, 3, Some("a")),
            (
                r#"COPY t 2, line 12, column a b: null input"#,
                12,
                Some("a b"),
            ),
            (r#"COPY t 2, line 4, column a, null input"#, 4, Some("a")),
            (r#"COPY t 2, line 4: "1,column a: 2""#, 4, None),
            (r#"COPY t 2, Zeile 5, Spalte a: »x«"#, 5, Some("a")),
            (
                "PL/pgSQL function f() line 7 at RAISE\nCOPY t 2, line 6",
                6,
                None,
            ),
            ("COPY t 2, line 7, column line", 7, Some("line")),
        ] {
            let expected = Some(Place {
                line,
                column: column.map(str::to_owned),
            });
            assert_eq!(place(context, "t 2", &columns), expected, "{context}");
        }
        assert_eq!(place("SQL function \"f\" statement 1", "t", &columns), None);
    }

    #[test]
    fn text_is_escaped() {
        let mut out = Vec::new();
        escape(b"a\tb\\N\r\n\\.", &mut out);
        assert_eq!(out, b"a\\tb\\\\N\\r\\n\\\\.");
    }
}
