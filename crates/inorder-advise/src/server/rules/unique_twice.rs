//! A UNIQUE constraint on the columns of the primary key, or of another UNIQUE constraint.

use super::{Action, Candidate, Facts, Group, redundant_index::needed};
use crate::{
    rules::Class,
    server::model::{BackingKind, Index, Table, TableKind},
};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Candidate> {
    let tables = facts.database.tables.iter();
    tables
        .filter(|table| table.kind != TableKind::Foreign && table.parent.is_none())
        .flat_map(of_table)
        .collect()
}

fn of_table(table: &Table) -> Vec<Candidate> {
    let mut dropped: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for index in table.indexes.iter().rev() {
        let Some(constraint) = &index.constraint else {
            continue;
        };
        if constraint.kind != BackingKind::Unique || index.parent.is_some() {
            continue;
        }
        let others = || {
            let others = table.indexes.iter();
            others
                .filter(|other| other.name != index.name && !dropped.contains(&other.name.as_str()))
        };
        let mut candidate = Candidate::about(table, &index.name, Group::UniqueTwice, Class::Safe);
        candidate.bytes = Some(index.bytes);
        candidate.actions = vec![Action::DropConstraint {
            schema: table.schema.clone(),
            table: table.name.clone(),
            constraint: constraint.name.clone(),
            index: index.name.clone(),
        }];
        if let Some(other) = others().find(|other| is_same_key(index, other)) {
            match needed(table, index) {
                Some(reason) => found.push(candidate.rejected(reason)),
                None => {
                    dropped.push(&index.name);
                    candidate.reason = match other.is_primary {
                        true => "the same columns as the primary key".into(),
                        false => format!("the same columns as {}", other.name),
                    };
                    candidate.notes.push(format!(
                        "Statements with ON CONFLICT ON CONSTRAINT {} must name {} instead.",
                        constraint.name, other.name
                    ));
                    found.push(candidate);
                }
            }
        } else if table
            .primary()
            .is_some_and(|primary| is_permuted(index, primary))
        {
            let reason = "unique by the primary key, and the columns are in another order";
            found.push(candidate.rejected(reason));
        }
    }
    found
}

/// Tells whether another constraint refuses the same rows at the same time.
pub(super) fn is_same_key(index: &Index, other: &Index) -> bool {
    let is_checked_at_once = |index: &Index| {
        index
            .constraint
            .as_ref()
            .is_none_or(|own| !own.is_deferrable)
    };
    other
        .constraint
        .as_ref()
        .is_some_and(|own| own.kind != BackingKind::Exclude)
        && other.is_valid
        && other.is_unique
        && index.terms == other.terms
        && index
            .include
            .iter()
            .all(|column| other.include.contains(column))
        && (index.nulls_are_equal == other.nulls_are_equal || other.is_primary)
        && is_checked_at_once(index)
        && is_checked_at_once(other)
}

fn is_permuted(index: &Index, primary: &Index) -> bool {
    let has = |column: &Option<String>| index.terms.iter().any(|term| term.column == *column);
    primary.terms.len() == index.terms.len() && primary.terms.iter().all(|term| has(&term.column))
}
