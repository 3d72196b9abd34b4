//! Counters that come to their end: keys, references to keys, sequences.

use super::{Action, Candidate, ColumnName, Facts, Group, shared::blocker};
use crate::{
    rules::Class,
    server::{
        counters::{End, ServerCounter, can_widen, wider},
        model::{CountedColumn, Product},
    },
};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Candidate> {
    let near: Vec<&ServerCounter> = facts
        .counters
        .iter()
        .filter(|own| own.counter.is_warning())
        .collect();
    let is_widened = |column: &CountedColumn| {
        let mut narrow = near.iter().filter(|own| own.end == End::Narrow);
        narrow.any(|own| own.column.as_ref() == Some(column))
    };
    near.iter()
        // A reference gets the wider type with the key that it refers to.
        .filter(|own| !own.refers_to.as_ref().is_some_and(is_widened))
        .map(|own| candidate(facts, own))
        .collect()
}

fn candidate(facts: &Facts<'_>, own: &ServerCounter) -> Candidate {
    let table = own.column.as_ref().map_or(String::new(), |column| {
        format!("{}.{}", column.schema, column.table)
    });
    let class = match own.end {
        End::SequenceType { .. } => Class::Safe,
        _ => Class::App,
    };
    let mut found = Candidate {
        rule: "",
        group: Group::IntegerRange,
        class,
        table,
        object: own.counter.object.clone(),
        actions: Vec::new(),
        bytes: None,
        reason: own.counter.in_words(),
        notes: Vec::new(),
    };
    let notes = &mut found.notes;
    notes.push(format!(
        "Counted by {}; {}.",
        own.counter.counted_by,
        own.counter.left_in_words()
    ));
    if own.cycles {
        notes.push("The sequence is declared with CYCLE: then it gives its numbers again, which a key refuses.".into());
    }
    match (&own.end, &own.column) {
        (End::Narrow, Some(column)) if can_widen(facts.database, column) => {
            notes.push("Programs that read it into 32 bits must change first.".into());
            widen(facts, column, &mut found);
        }
        (End::Narrow | End::Wide, _) => {
            found
                .notes
                .extend(wider(facts.database.product, own, facts.database));
        }
        (End::SequenceType { schema, name, to }, column) => {
            if column.is_none() {
                notes.push("Programs that read its numbers into 32 bits must change first.".into());
            }
            found.actions = vec![Action::WidenSequence {
                schema: schema.clone(),
                sequence: name.clone(),
                to: to.clone(),
            }];
        }
        (End::Declared, _) => {
            let what = match own.counter.last < own.counter.first {
                true => "NO MINVALUE",
                false => "NO MAXVALUE",
            };
            notes.push(format!(
                "Whoever declared the end knows why: ALTER SEQUENCE … {what} takes it away."
            ));
        }
    }
    found
}

/// The type bigint for a column, and for those that refer to it.
fn widen(facts: &Facts<'_>, column: &CountedColumn, found: &mut Candidate) {
    let Some(table) = facts.database.table(&column.schema, &column.table) else {
        return;
    };
    let mut columns = vec![ColumnName::of(table, &column.column)];
    for key in &table.referenced_by {
        let place = key
            .parent_columns
            .iter()
            .position(|name| *name == column.column);
        let child = facts.database.table(&key.child_schema, &key.child);
        if let (Some(place), Some(child)) = (place, child) {
            columns.push(ColumnName::of(child, &key.columns[place]));
        }
    }
    columns.sort();
    columns.dedup();
    let is_narrow = |own: &ColumnName| {
        let own = CountedColumn {
            schema: own.schema.clone(),
            table: own.table.clone(),
            column: own.column.clone(),
        };
        can_widen(facts.database, &own)
    };
    // PostgreSQL's foreign keys join types: a wide end stays as it is. MariaDB's ends have one type.
    let mut settled = columns.clone();
    if facts.database.product == Product::Postgres {
        columns.retain(is_narrow);
        settled.extend(wide_parents(facts, table, &column.column));
    }
    match columns.iter().find_map(|own| blocker(facts, own, &settled)) {
        Some(blocker) => found
            .notes
            .push(format!("No steps are printed: {blocker}.")),
        None => found.actions = vec![Action::Widen { columns }],
    }
}

/// The columns of 64 bits that a column refers to.
fn wide_parents(facts: &Facts<'_>, table: &super::Table, column: &str) -> Vec<ColumnName> {
    let mut found = Vec::new();
    for key in &table.foreign_keys {
        let pairs = super::shared::pairs(key).filter(|(child, _)| *child == column);
        for (_, name) in pairs {
            let parent = facts.database.table(&key.parent_schema, &key.parent);
            let Some((parent, own)) = parent.and_then(|own| Some((own, own.column(name)?))) else {
                continue;
            };
            if matches!(own.base_type.as_str(), "int8" | "bigint") {
                found.push(ColumnName::of(parent, name));
            }
        }
    }
    found
}
