//! A column under construction.

use std::sync::Arc;

use inorder_engine::{Column, Value};

/// A column's values so far. Text is stored contiguously, without an allocation per value.
#[derive(Default)]
pub(super) struct ColumnBuilder {
    cells: Vec<Cell>,
    pool: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    /// Offset and length in the pool.
    Text(u32, u32),
    /// Offset and length in the pool.
    Blob(u32, u32),
}

/// A column that holds more text than spans can point into: 4 GiB.
#[derive(Debug)]
pub(super) struct TooMuchText;

impl ColumnBuilder {
    pub(super) fn push_null(&mut self) {
        self.cells.push(Cell::Null);
    }

    pub(super) fn push_integer(&mut self, integer: i64) {
        self.cells.push(Cell::Integer(integer));
    }

    pub(super) fn push_real(&mut self, real: f64) {
        self.cells.push(Cell::Real(real));
    }

    /// Adds a number as JSON writes it: an integer where it is one of 64 bits.
    pub(super) fn push_number(&mut self, digits: &[u8]) {
        let digits = std::str::from_utf8(digits).unwrap_or_default();
        match digits.parse() {
            Ok(integer) => self.push_integer(integer),
            Err(_) => self.push_real(digits.parse().unwrap_or(f64::INFINITY)),
        }
    }

    /// Adds text, which is valid UTF-8.
    pub(super) fn push_text(&mut self, text: &[u8]) -> Result<(), TooMuchText> {
        let (offset, length) = self.keep(text)?;
        self.cells.push(Cell::Text(offset, length));
        Ok(())
    }

    pub(super) fn push_blob(&mut self, blob: &[u8]) -> Result<(), TooMuchText> {
        let (offset, length) = self.keep(blob)?;
        self.cells.push(Cell::Blob(offset, length));
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(u32, u32), TooMuchText> {
        let offset = self.pool.len();
        if u32::try_from(offset + bytes.len()).is_err() {
            return Err(TooMuchText);
        }
        self.pool.extend_from_slice(bytes);
        Ok((offset as u32, bytes.len() as u32))
    }

    /// Makes the column `rows` long, with NULL where it is shorter.
    pub(super) fn pad(&mut self, rows: usize) {
        self.cells.resize(rows, Cell::Null);
    }

    /// Takes the column's text for numbers, where all of it is ([`plain_number`]). One value that is no number makes the
    /// whole column text, so that film titles keep one order and "1917" stays a title.
    pub(super) fn recognise_numbers(&mut self) {
        let numbers = self.cells.iter().map(|&cell| match cell {
            Cell::Text(offset, length) => {
                let text = &self.pool[offset as usize..][..length as usize];
                Some(match plain_number(text)? {
                    Plain::Integer(integer) => Cell::Integer(integer),
                    Plain::Real(real) => Cell::Real(real),
                })
            }
            other => Some(other),
        });
        if let Some(cells) = numbers.collect() {
            *self = ColumnBuilder {
                cells,
                pool: Vec::new(),
            };
        }
    }

    /// The column, in the leanest form that holds its values.
    pub(super) fn finish(self) -> Column {
        let ColumnBuilder { cells, pool } = self;
        let integer = |cell: &Cell| match *cell {
            Cell::Integer(integer) => Some(integer),
            _ => None,
        };
        let real = |cell: &Cell| match *cell {
            Cell::Real(real) => Some(real),
            _ => None,
        };
        let span = |cell: &Cell| match *cell {
            Cell::Text(offset, length) => Some((offset, length)),
            _ => None,
        };
        if let Some(integers) = cells.iter().map(integer).collect() {
            Column::Integers(integers)
        } else if let Some(reals) = cells.iter().map(real).collect() {
            Column::Reals(reals)
        } else if let Some(spans) = cells.iter().map(span).collect() {
            Column::Spans {
                pool: pool.into(),
                spans,
                is_text: true,
            }
        } else {
            Column::Any(cells.iter().map(|cell| value(cell, &pool)).collect())
        }
    }
}

fn value(cell: &Cell, pool: &[u8]) -> Value {
    match *cell {
        Cell::Null => Value::Null,
        Cell::Integer(integer) => Value::Integer(integer),
        Cell::Real(real) => Value::Real(real),
        Cell::Text(offset, length) => {
            let text = &pool[offset as usize..][..length as usize];
            Value::Text(Arc::from(String::from_utf8_lossy(text)))
        }
        Cell::Blob(offset, length) => {
            Value::Blob(Arc::from(&pool[offset as usize..][..length as usize]))
        }
    }
}

/// A number that a text can be taken for without a loss.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Plain {
    Integer(i64),
    Real(f64),
}

/// The number that a text is, where nothing but its form gets lost: what SQLite's numeric affinity takes
/// for one, but for `007`, `+49` and integers beyond 64 bits.
///
/// Source: <https://www.sqlite.org/datatype3.html>, section 3.
fn plain_number(text: &[u8]) -> Option<Plain> {
    let text = std::str::from_utf8(text).ok()?.trim_matches(' ');
    let unsigned = text.strip_prefix('-').unwrap_or(text).as_bytes();
    if unsigned.iter().all(u8::is_ascii_digit) {
        let is_padded = unsigned.len() > 1 && unsigned[0] == b'0';
        let integer = text.parse().ok().filter(|_| !is_padded)?;
        return Some(Plain::Integer(integer));
    }
    let is_real = match unsigned {
        [b'0', b'0'..=b'9', ..] => false,
        [b'0'..=b'9' | b'.', rest @ ..] => rest
            .iter()
            .all(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')),
        _ => false,
    };
    let real: f64 = text.parse().ok().filter(|_| is_real)?;
    real.is_finite().then_some(Plain::Real(real))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recognised(texts: &[&str]) -> Column {
        let mut column = ColumnBuilder::default();
        for text in texts {
            column.push_text(text.as_bytes()).expect("little text");
        }
        column.recognise_numbers();
        column.finish()
    }

    #[test]
    fn numbers_are_recognised_where_nothing_gets_lost() {
        let integers = recognised(&["0", "-12", " 7 ", "9223372036854775807"]);
        assert!(matches!(integers, Column::Integers(i) if i == [0, -12, 7, i64::MAX]));
        let reals = recognised(&["0.5", "-1e3", ".25", "5.", "1E+2"]);
        assert!(matches!(reals, Column::Reals(r) if r == [0.5, -1000.0, 0.25, 5.0, 100.0]));
        let mixed = recognised(&["1", "0.5"]);
        let expected = [Value::Integer(1), Value::Real(0.5)];
        assert!(matches!(mixed, Column::Any(values) if values == expected));
    }

    #[test]
    fn what_would_change_as_a_number_is_text() {
        for text in [
            "007",
            "+49",
            "9223372036854775808",
            "1e999",
            "inf",
            "NaN",
            "0x10",
            "1-2",
            "-",
            ".",
            "00.5",
            "1_000",
            "tt01",
            " ",
        ] {
            let column = recognised(&["1", text]);
            assert!(
                matches!(column, Column::Spans { is_text: true, .. }),
                "{text}"
            );
        }
    }
}
