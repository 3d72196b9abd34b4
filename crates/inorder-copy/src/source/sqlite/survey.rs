//! One pass over the values of a table, which finds out what types the columns have.

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::declared::{Candidate, Want, candidates};
use crate::model::Column;
use crate::source::quoted;
use crate::value::Kind;

/// The largest integer up to which all are exact as floating-point numbers.
const EXACT_MAX: u64 = 1 << 53;

/// The most characters of a value that a note has.
const SHOWN_MAX: usize = 40;

/// The values of a column.
#[derive(Default)]
pub struct Found {
    integer: bool,
    real: bool,
    text: bool,
    blob: bool,
    has_large: bool,
    candidates: Vec<Judged>,
}

/// A type, and the values that are not of that type.
struct Judged {
    candidate: Candidate,
    wrong: u64,
    /// The row of the first one from 1, and the value.
    first: Option<(u64, String)>,
}

/// Reads the values of columns, given by their names and declared types.
pub fn survey(
    db: &Connection,
    table: &str,
    columns: &[(&String, &String)],
) -> rusqlite::Result<Vec<Found>> {
    let mut found: Vec<Found> = columns
        .iter()
        .map(|(_, declared)| Found::of(declared))
        .collect();
    let names: Vec<String> = columns.iter().map(|(name, _)| quoted(name)).collect();
    let sql = format!("SELECT {} FROM {}", names.join(", "), quoted(table));
    let mut statement = db.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut number = 0;
    while let Some(row) = rows.next()? {
        number += 1;
        for (at, found) in found.iter_mut().enumerate() {
            found.add(row.get_ref(at)?, number);
        }
    }
    Ok(found)
}

impl Found {
    fn of(declared: &str) -> Self {
        let candidates = candidates(declared).into_iter();
        let judged = candidates.map(|candidate| Judged {
            candidate,
            wrong: 0,
            first: None,
        });
        Found {
            candidates: judged.collect(),
            ..Found::default()
        }
    }

    fn add(&mut self, value: ValueRef<'_>, row: u64) {
        match value {
            ValueRef::Null => return,
            ValueRef::Integer(integer) => {
                self.integer = true;
                self.has_large |= integer.unsigned_abs() > EXACT_MAX;
            }
            ValueRef::Real(_) => self.real = true,
            ValueRef::Text(_) => self.text = true,
            ValueRef::Blob(_) => self.blob = true,
        }
        for (at, judged) in self.candidates.iter_mut().enumerate() {
            // The first one is told with the number of its wrong values.
            if (at == 0 || judged.wrong == 0) && !judged.candidate.want.has(value) {
                judged.wrong += 1;
                judged.first.get_or_insert_with(|| (row, shown(value)));
            }
        }
    }

    /// Whether the column has no values.
    pub fn is_empty(&self) -> bool {
        !(self.integer || self.real || self.text || self.blob)
    }

    /// Sets the type of a column.
    pub fn decide(&self, column: &mut Column) {
        let Some(declared) = self.candidates.first() else {
            return self.by_class(column);
        };
        let fitting = self.candidates.iter().find(|judged| judged.wrong == 0);
        match fitting {
            Some(judged) => {
                let candidate = &judged.candidate;
                column.postgres.clone_from(&candidate.postgres);
                column.kind = candidate.kind;
                self.read(column, candidate.want);
            }
            None => self.by_class(column),
        }
        if let Some((row, value)) = &declared.first {
            let (wrong, wanted) = (declared.wrong, declared.candidate.want.told());
            let (verb, values) = match wrong {
                1 => ("is", "value"),
                _ => ("are", "values"),
            };
            column.decisions.insert(
                0,
                format!(
                    "declared {}, {} in the copy: {wrong} {values} {verb} not {wanted}, the first in row {row}: {value}",
                    column.declared, column.postgres
                ),
            );
        }
    }

    /// Sets how a column is read whose values are all of a type.
    fn read(&self, column: &mut Column, want: Want) {
        let own = quoted(&column.name);
        match want {
            Want::Json if self.integer || self.real => {
                column.read = format!("CAST({own} AS TEXT)");
                column.decisions.push(
                    "SQLite has made numbers of JSON texts; their digits may be others than those that were written"
                        .to_owned(),
                );
            }
            Want::Boolean if self.text => {
                column
                    .decisions
                    .push("its texts (t, f, true, false) are truth values in the copy".to_owned());
            }
            Want::Instant(_) if !column.declared.to_ascii_lowercase().contains("z") => {
                column
                    .decisions
                    .push("times without an offset are in UTC, as SQLite reads them".to_owned());
            }
            _ => {}
        }
    }

    /// Sets the type of a column by the storage classes of its values.
    fn by_class(&self, column: &mut Column) {
        let upper = column.declared.to_ascii_uppercase();
        let has = |word: &str| upper.contains(word);
        let own = quoted(&column.name);
        let (kind, postgres) = match (self.integer, self.real, self.text, self.blob) {
            (true, false, false, false) => (Kind::Plain, "bigint"),
            (_, true, false, false) if !self.has_large => (Kind::Double, "double precision"),
            (false, false, true, false) => (Kind::Text, "text"),
            (false, false, false, true) => (Kind::Bytes, "bytea"),
            (false, false, false, false) if has("INT") => (Kind::Plain, "bigint"),
            (false, false, false, false) if has("REAL") || has("FLOA") || has("DOUB") => {
                (Kind::Double, "double precision")
            }
            (false, false, false, false) if has("BLOB") => (Kind::Bytes, "bytea"),
            (false, false, false, false) => (Kind::Text, "text"),
            (_, _, _, false) => {
                if self.candidates.is_empty() {
                    column.decisions.push(
                        "it has numbers and text, or numbers that no type has: they are text in the copy"
                            .to_owned(),
                    );
                }
                column.read = format!("CAST({own} AS TEXT)");
                (Kind::Text, "text")
            }
            (_, _, _, true) => {
                column.decisions.push(
                    "it has bytes and other values: all are bytes in the copy, of text in UTF-8"
                        .to_owned(),
                );
                // CAST AS BLOB would return text in the encoding of the database.
                column.read = format!("iif(typeof({own}) = 'blob', {own}, CAST({own} AS TEXT))");
                (Kind::Bytes, "bytea")
            }
        };
        (column.kind, column.postgres) = (kind, postgres.to_owned());
    }
}

/// A value as a note has it.
fn shown(value: ValueRef<'_>) -> String {
    let short = |text: &str| match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    };
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(integer) => integer.to_string(),
        ValueRef::Real(real) => format!("{real:?}"),
        ValueRef::Text(text) => format!("`{}`", short(&String::from_utf8_lossy(text))),
        ValueRef::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}
