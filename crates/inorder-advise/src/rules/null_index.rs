//! An index whose first column is NULL in every row becomes partial.

use super::{
    Candidate, Class, Group,
    shared::{demanded_by_name, is_prefix, missing, needed_by_parent_key, paths, title},
};
use crate::{
    Change,
    read::{Database, Index, Origin, Table},
};

/// A constraint's index of fewer NULLs is not worth a line.
const CONSTRAINED_ROWS_MIN: u64 = 1000;

pub(super) fn find(database: &Database) -> Vec<Candidate> {
    let tables = database
        .tables
        .iter()
        .filter(|table| table.is_ordinary() && table.rows > 0);
    tables
        .flat_map(|table| {
            table
                .indexes
                .iter()
                .filter_map(|index| of_index(database, table, index))
        })
        .collect()
}

fn of_index(database: &Database, table: &Table, index: &Index) -> Option<Candidate> {
    let column = &table.columns[index.terms.first()?.column?];
    let is_null = column.values.rows > 0 && column.values.present() == 0;
    if !is_null || index.condition.is_some() || index.origin == Origin::Key {
        return None;
    }
    let mut candidate = Candidate {
        rule: "",
        group: Group::NullIndex,
        class: Class::Safe,
        table: table.name.clone(),
        object: title(table, index),
        changes: vec![Change::PartialIndex {
            index: index.name.clone(),
            column: column.name.clone(),
        }],
        reason: format!(
            "{} is NULL in all {} rows: … WHERE {0} IS NOT NULL",
            column.name, table.rows
        ),
        notes: vec![format!(
            "Would lose the index: queries with {} IS NULL.",
            column.name
        )],
    };
    if index.origin == Origin::Unique && table.rows < CONSTRAINED_ROWS_MIN {
        return None;
    }
    if index.origin == Origin::Unique {
        return Some(candidate.rejected("a UNIQUE constraint has no partial form"));
    }
    let blocker = missing(table)
        .or_else(|| demanded_by_name(database, &index.name))
        .or_else(|| needed_by_parent_key(database, table, index, &[]));
    if let Some(blocker) = blocker {
        return Some(candidate.rejected(blocker));
    }
    if index.is_unique {
        return Some(
            candidate.rejected(
                "it is UNIQUE: INSERT … ON CONFLICT would not find it as a partial index",
            ),
        );
    }
    if let Some(column) = ordered_by(table, index) {
        return Some(candidate.rejected(format!(
            "{} is NULL in all {} rows, but among them it finds {column} in order: queries with {0} IS NULL may use that",
            table.columns[index.terms[0].column?].name, table.rows
        )));
    }
    let key = table.foreign_keys.iter().find(|key| {
        key.columns
            .first()
            .is_some_and(|first| first.eq_ignore_ascii_case(&column.name))
    });
    if let Some(key) = key {
        candidate.notes.push(format!(
            "Not dropped: FOREIGN KEY({}) REFERENCES {} looks rows up by it, which a partial index serves.",
            key.columns.join(", "),
            key.parent
        ));
    }
    Some(candidate)
}

/// The column by which an index of NULLs still orders the rows, if no other index has that order.
fn ordered_by<'t>(table: &'t Table, index: &'t Index) -> Option<&'t str> {
    let is_null = |at: usize| {
        let values = &table.columns[at].values;
        values.rows > 0 && values.present() == 0
    };
    let rest = index
        .terms
        .iter()
        .position(|term| !term.column.is_some_and(is_null))?;
    let terms = &index.terms[rest..];
    let mut others = paths(table).into_iter().filter(|path| {
        path.condition.is_none()
            && path.stays_without(index, &[])
            && terms.len() <= path.terms.len()
    });
    match others.any(|path| is_prefix(terms, &path.terms)) {
        true => None,
        false => Some(match terms[0].column {
            Some(at) => &table.columns[at].name,
            None => terms[0].expression.as_deref().unwrap_or("the rowid"),
        }),
    }
}
