//! The columns that hold ids, in words.

use super::IdLine;
use crate::read::{self, Database, Ids, Table};

/// The columns that hold ids or are keys, in words.
pub(super) fn id_lines(database: &Database) -> Vec<IdLine> {
    let tables = database
        .tables
        .iter()
        .filter(|table| table.is_ordinary() && table.rows > 0);
    tables
        .flat_map(|table| (0..table.columns.len()).filter_map(|at| id_line(table, at)))
        .collect()
}

fn id_line(table: &Table, at: usize) -> Option<IdLine> {
    let column = &table.columns[at];
    let is_key = table.key == [at];
    let is_indexed = table
        .indexes
        .iter()
        .any(|index| index.terms.iter().any(|term| term.column == Some(at)));
    let line = |kind: String, note: &str| IdLine {
        column: format!("{}.{}", table.name, column.name),
        kind,
        note: note.into(),
    };
    if let Some(ids) = Ids::of(table, column) {
        let note = match (ids.is_random(), is_indexed) {
            _ if ids.form().is_some_and(|form| form.id_form().is_some()) => "text",
            (true, true) => "random",
            (true, false) => "random, not indexed",
            _ => "good",
        };
        return Some(line(ids.in_words(column), note));
    }
    if table.rowid_alias == Some(at) {
        return Some(line("rowid alias".into(), "good"));
    }
    let kind = is_key
        .then(|| read::integer_kind(table, column))
        .flatten()?;
    Some(line(format!("{kind}, beside the rowid"), ""))
}
