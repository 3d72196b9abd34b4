//! The columns that hold ids, in words.

use super::IdLine;
use crate::{
    classify::IdRole,
    read::{self, Database, Ids, Table},
};

/// The note on a secret whose ids begin with their time.
pub(crate) const NOT_RANDOM: &str = "a secret must be random, and these tell their time";

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
    let title = format!("{}.{}", table.name, column.name);
    let line = |kind: String, note: &str| IdLine {
        kind,
        note: note.into(),
        class: column.class.clone(),
        settles: column.class.as_ref().and_then(|class| class.line(&title)),
        column: title.clone(),
    };
    let is = |role| {
        column
            .class
            .as_ref()
            .is_some_and(|class| class.role == role && !class.is_open())
    };
    if let Some(ids) = Ids::of(table, column) {
        let note = match (ids.is_random(), is_indexed) {
            _ if is(IdRole::Secret) && ids.begins_with_time() => NOT_RANDOM,
            _ if is(IdRole::Secret) => "must stay random",
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
