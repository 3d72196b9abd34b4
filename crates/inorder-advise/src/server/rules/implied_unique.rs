//! An index or UNIQUE constraint that begins with a key which is unique by itself.
//!
//! The key finds the only row that the wider index could find. What is lost is that the wider index covers a query.

use super::{
    Action, Candidate, Facts, Group,
    redundant_index::{dropped, needed},
};
use crate::{
    rules::Class,
    server::model::{BackingKind, Database, ForeignKey, Index, Product, Table, TableKind, Term},
};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Candidate> {
    let database = facts.database;
    let tables = database.tables.iter();
    tables
        .filter(|table| !matches!(table.kind, TableKind::Foreign | TableKind::CatalogOnly))
        .flat_map(|table| of_table(database, table))
        .collect()
}

fn of_table(database: &Database, table: &Table) -> Vec<Candidate> {
    let mut gone = dropped(database.product, table);
    let mut found = Vec::new();
    for index in table.indexes.iter().rev() {
        let is_kept = index.is_primary || index.is_clustered || index.parent.is_some();
        let of_unique = index
            .constraint
            .as_ref()
            .is_none_or(|own| own.kind == BackingKind::Unique);
        if is_kept || !of_unique || !index.is_valid || gone.contains(&index.name) {
            continue;
        }
        let keys = table.indexes.iter().filter(|key| {
            key.name != index.name && !gone.contains(&key.name) && implies(table, key, index)
        });
        // One that the index begins with replaces it for reads, too.
        let Some(key) = keys.max_by_key(|key| begins(index, key)) else {
            continue;
        };
        // Another order of the columns is another index, and plain ones guard nothing.
        if !index.is_unique && !begins(index, key) {
            continue;
        }
        let candidate = candidate(database, table, (index, key), &gone);
        if candidate.class == Class::Safe {
            gone.push(index.name.clone());
        }
        found.push(candidate);
    }
    found
}

/// Tells whether a narrower index is a unique key within the columns of an index.
fn implies(table: &Table, key: &Index, index: &Index) -> bool {
    let is_never_null = |term: &Term| {
        let column = term.column.as_ref().and_then(|name| table.column(name));
        column.is_some_and(|own| own.is_not_null || key.is_primary || key.nulls_are_equal)
            && term.prefix.is_none()
    };
    let is_checked_at_once = key
        .constraint
        .as_ref()
        .is_none_or(|own| !own.is_deferrable && own.kind != BackingKind::Exclude);
    let has = |term: &Term| {
        let mut own = index.terms.iter();
        own.any(|own| {
            own.column == term.column && own.collation == term.collation && own.prefix.is_none()
        })
    };
    key.is_unique
        && key.is_valid
        && is_checked_at_once
        && key.predicate.is_none()
        && key.method == "btree"
        && index.method == "btree"
        && key.terms.len() < index.terms.len()
        && key
            .terms
            .iter()
            .all(|term| is_never_null(term) && has(term))
}

/// Tells whether an index begins with the terms of a key, in one direction.
fn begins(index: &Index, key: &Index) -> bool {
    let pairs = || index.terms.iter().zip(&key.terms);
    let turned = |(own, key): (&Term, &Term)| {
        own.is_descending != key.is_descending
            && own.column == key.column
            && own.operator_class == key.operator_class
    };
    let is_same = |(own, key): (&Term, &Term)| own == key;
    pairs().all(is_same) || pairs().all(turned)
}

fn candidate(
    database: &Database,
    table: &Table,
    (index, key): (&Index, &Index),
    gone: &[String],
) -> Candidate {
    let mut candidate = Candidate::about(table, &index.name, Group::ImpliedUnique, Class::Safe);
    candidate.bytes = Some(index.bytes);
    let (schema, name) = (table.schema.clone(), table.name.clone());
    candidate.actions = vec![match &index.constraint {
        Some(constraint) => Action::DropConstraint {
            schema,
            table: name,
            constraint: constraint.name.clone(),
            index: index.name.clone(),
        },
        None => Action::DropIndex {
            schema,
            table: name,
            index: index.name.clone(),
        },
    }];
    let unique = format!("{} alone is unique", called(key));
    candidate.reason.clone_from(&unique);
    if index.predicate.is_some() {
        return candidate.rejected(format!(
            "{unique}, but this index lists the rows of its condition"
        ));
    }
    if !begins(index, key) {
        return candidate.rejected(format!(
            "{unique}, so it guards nothing; but reads may use its order, which is another one"
        ));
    }
    if let Some(reason) =
        needed(table, index).or_else(|| of_foreign_key(database, table, index, gone))
    {
        return candidate.rejected(reason);
    }
    if let Some(column) = index.include.first() {
        return candidate.rejected(format!(
            "{unique}; includes {column} for queries that read nothing but the index"
        ));
    }
    let scans = index.scans.filter(|scans| *scans > 0);
    candidate.notes.push(format!(
        "A query that reads nothing but the columns of {} would read the table too{}.",
        index.name,
        scans.map_or(String::new(), |scans| format!(" ({scans} scans so far)"))
    ));
    if index.is_unique {
        let columns: Vec<&str> = index
            .terms
            .iter()
            .filter_map(|term| term.column.as_deref())
            .collect();
        candidate.notes.push(match database.product {
            Product::Postgres => format!(
                "INSERT … ON CONFLICT ({}) would fail without it.",
                columns.join(", ")
            ),
            Product::Mariadb => {
                "ON DUPLICATE KEY UPDATE acts by the key, which is equal whenever this index is."
                    .into()
            }
        });
    }
    candidate
}

fn called(key: &Index) -> String {
    match key.is_primary {
        true => "the primary key".into(),
        false => key.name.clone(),
    }
}

/// The foreign key of MariaDB that no other index serves: it needs one that begins with its columns, on either side.
fn of_foreign_key(
    database: &Database,
    table: &Table,
    index: &Index,
    gone: &[String],
) -> Option<String> {
    if database.product == Product::Postgres {
        return None;
    }
    let serves = |own: &Index, columns: &[String]| {
        own.terms.len() >= columns.len()
            && own
                .terms
                .iter()
                .zip(columns)
                .all(|(term, column)| term.column.as_ref() == Some(column))
    };
    let is_left = |columns: &[String]| {
        let mut others = table.indexes.iter();
        serves(index, columns)
            && !others.any(|own| {
                own.name != index.name && !gone.contains(&own.name) && serves(own, columns)
            })
    };
    let own = table.foreign_keys.iter().find(|key| is_left(&key.columns));
    let other = || {
        table
            .referenced_by
            .iter()
            .find(|key| is_left(&key.parent_columns))
    };
    let key: &ForeignKey = own.or_else(other)?;
    Some(format!(
        "the foreign key {} of {} needs it",
        key.name, key.child
    ))
}
