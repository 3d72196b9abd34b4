//! An index or UNIQUE constraint that begins with a key which is unique by itself.
//!
//! The key finds the only row that the wider index could find. What is lost is that the wider index covers a query.

use super::{
    Candidate, Class, Group, redundant_index,
    shared::{Path, index_blocker, is_never_null, is_prefix, paths, title},
};
use crate::{
    Change,
    read::{Database, Index, Origin, Table, Term},
};

pub(super) fn find(database: &Database) -> Vec<Candidate> {
    let tables = database.tables.iter().filter(|table| table.is_ordinary());
    tables.flat_map(|table| of_table(database, table)).collect()
}

fn of_table(database: &Database, table: &Table) -> Vec<Candidate> {
    let paths = paths(table);
    // What another index replaces is gone: it serves no foreign key and replaces nothing.
    let replaced = redundant_index::dropped(database, table);
    let mut dropped: Vec<&str> = replaced.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    for index in table
        .indexes
        .iter()
        .rev()
        .filter(|index| index.origin != Origin::Key && !replaced.contains(&index.name))
    {
        let mut keys = paths
            .iter()
            .filter(|path| path.stays_without(index, &dropped) && implies(table, path, index));
        // One that the index begins with replaces it for reads, too.
        let first = keys.clone().next();
        let key = keys.find(|key| begins(index, key)).or(first);
        let Some(key) = key else { continue };
        let candidate = candidate(database, table, (index, key), &dropped);
        if candidate.class == Class::Safe {
            dropped.push(&index.name);
        }
        found.push(candidate);
    }
    found
}

/// Tells whether the path is a unique key within the columns of an index, and narrower or the index a plain one.
fn implies(table: &Table, path: &Path<'_>, index: &Index) -> bool {
    let is_key = path.is_unique
        && path.condition.is_none()
        && path
            .terms
            .iter()
            .all(|term| term.column.is_some_and(|at| is_never_null(table, at)));
    let has = |term: &Term| {
        index.terms.iter().any(|own| {
            own.column == term.column
                && (own.collation == term.collation || own.collation == "BINARY")
        })
    };
    // An equal pair is the redundant index's rule, unless a constraint made it beside the rowid.
    let is_wider =
        index.terms.len() > path.terms.len() || (path.index.is_none() && index.terms.len() == 1);
    is_key && is_wider && path.terms.iter().all(has)
}

/// Tells whether an index begins with the terms of a key: then the key finds what the index finds, in the same order.
fn begins(index: &Index, key: &Path<'_>) -> bool {
    key.terms.len() <= index.terms.len() && is_prefix(&key.terms, &index.terms)
}

fn candidate(
    database: &Database,
    table: &Table,
    (index, key): (&Index, &Path<'_>),
    dropped: &[&str],
) -> Candidate {
    let columns = table.names(&index.columns().unwrap_or_default());
    let (group, change) = match index.origin {
        Origin::Created => {
            let index = index.name.clone();
            (Group::UniquePrefix, Change::DropIndex { index })
        }
        _ => {
            let table = table.name.clone();
            (Group::ImpliedUnique, Change::DropUnique { table, columns })
        }
    };
    let mut candidate = Candidate {
        rule: "",
        group,
        class: Class::Safe,
        table: table.name.clone(),
        object: title(table, index),
        changes: vec![change],
        reason: format!("{} alone is unique", key.name),
        notes: Vec::new(),
    };
    if index.condition.is_some() {
        return candidate.rejected(format!(
            "{} alone is unique, but this index lists the rows of its condition",
            key.name
        ));
    }
    if !begins(index, key) {
        return candidate.rejected(format!(
            "{} alone is unique, so it guards nothing; but reads may use its order, which is another one",
            key.name
        ));
    }
    if let Some(blocker) = index_blocker(database, table, index, dropped) {
        return candidate.rejected(blocker);
    }
    if index.is_unique && table.inserts_differ_without(&index.terms, &key.terms) {
        return candidate.rejected(
            "a key has an ON CONFLICT clause: which of the keys is checked first matters",
        );
    }
    if index.terms.len() > key.terms.len() {
        candidate.notes.push(format!(
            "A query that reads nothing but the columns of {} would read the table too.",
            candidate.object
        ));
    }
    if index.is_unique {
        candidate.notes.push(format!(
            "INSERT … ON CONFLICT({}) would fail without it.",
            table.names(&index.columns().unwrap_or_default()).join(", ")
        ));
    }
    candidate
}
