//! Which change makes a query slower: it is left, and the others stay.

use super::judge::Part;
use crate::{
    Change, Error,
    ddl::mentions,
    read::Table,
    rules::Class,
    trial::{Queries, Query, Trial},
};
use std::fs;

/// The parts of all changes, of which these are rejected with the reason.
pub(super) fn without(parts: &[Part], guilty: &[(Change, String)]) -> Vec<Part> {
    let mut parts = parts.to_vec();
    for part in &mut parts {
        let mut reasons = guilty.iter();
        let reason = reasons.find(|(change, _)| part.candidate.changes.contains(change));
        if let Some((_, reason)) = reason {
            part.candidate.class = Class::Rejected;
            part.candidate.reason.clone_from(reason);
        }
    }
    parts
}

/// The changes of a plan that make queries clearly slower, each with the query and its times.
pub(super) fn guilty(
    trial: &Trial<'_>,
    plan: &[Change],
    queries: &Queries,
) -> Result<Vec<(Change, String)>, Error> {
    let mut found: Vec<(Change, String)> = Vec::new();
    for query in &queries.queries {
        if query.slower().is_none() {
            continue;
        }
        let concerned = concerned(trial, plan, query);
        let is_known = |(change, _): &(Change, String)| concerned.contains(&change);
        // Without that change the query may be as fast as before: it is measured again.
        if !found.iter().any(is_known) {
            found.extend(guilty_of(trial, plan, query, &concerned)?);
        }
    }
    Ok(found)
}

/// The changes that make a query slower: one that does so alone, or without which it is as fast as before; else all that
/// concern it.
fn guilty_of(
    trial: &Trial<'_>,
    plan: &[Change],
    query: &Query,
    concerned: &[&Change],
) -> Result<Vec<(Change, String)>, Error> {
    let told = |query: &Query| {
        let sql: Vec<&str> = query.sql.split_whitespace().collect();
        let how = query.slower();
        how.map(|how| format!("with it, the query `{}` {how}", sql.join(" ")))
    };
    let reason = told(query).unwrap_or_default();
    if let [change] = concerned {
        return Ok(vec![((*change).clone(), reason)]);
    }
    for &change in concerned {
        let alone = with(trial, std::slice::from_ref(change), query)?;
        if let Some(reason) = alone.as_ref().and_then(told) {
            return Ok(vec![(change.clone(), reason)]);
        }
    }
    for &change in concerned {
        let others: Vec<Change> = plan.iter().filter(|own| *own != change).cloned().collect();
        let without = with(trial, &others, query)?;
        if without.is_some_and(|query| query.slower().is_none()) {
            return Ok(vec![(change.clone(), reason)]);
        }
    }
    let all = concerned
        .iter()
        .map(|&change| (change.clone(), reason.clone()));
    Ok(all.collect())
}

/// A query with other changes; nothing where they can't be made.
fn with(trial: &Trial<'_>, changes: &[Change], query: &Query) -> Result<Option<Query>, Error> {
    let path = match trial.together(changes, "queries.db") {
        Ok((path, _)) => path,
        Err(Error::Refused { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let found = trial.queries(Some(&path), std::slice::from_ref(&query.sql));
    _ = fs::remove_file(path);
    Ok(found?.queries.pop())
}

/// The changes of the tables that a query names, itself or in its plans; those first whose index it used.
fn concerned<'c>(trial: &Trial<'_>, plan: &'c [Change], query: &Query) -> Vec<&'c Change> {
    let plans = [query.plan_before.join("\n"), query.plan_after.join("\n")];
    let names = |name: &str| {
        let mut texts = plans.iter().chain([&query.sql]);
        texts.any(|text| mentions(text, name))
    };
    let is_concerned = |change: &&Change| {
        let mut tables = trial
            .database
            .tables
            .iter()
            .filter(|table| is_of(change, table));
        let is_of_all = matches!(change, Change::PageSize { .. } | Change::Vacuum);
        let is_named = |table: &Table| {
            let mut indexes = table.indexes.iter();
            names(&table.name) || indexes.any(|index| names(&index.name))
        };
        is_of_all || tables.any(is_named)
    };
    let mut found: Vec<&Change> = plan.iter().filter(is_concerned).collect();
    if found.is_empty() {
        found = plan.iter().collect();
    }
    let was_used = |change: &Change| match change {
        Change::DropIndex { index } | Change::PartialIndex { index, .. } => {
            mentions(&plans[0], index)
        }
        _ => false,
    };
    found.sort_by_key(|change| !was_used(change));
    found
}

/// Whether a change is of this table.
pub(super) fn is_of(change: &Change, table: &Table) -> bool {
    match change {
        Change::DropIndex { index } | Change::PartialIndex { index, .. } => {
            table.indexes.iter().any(|own| own.name == *index)
        }
        Change::DropUnique { table: name, .. }
        | Change::WithoutRowid { table: name }
        | Change::WithoutRowidByUnique { table: name, .. }
        | Change::Rowid { table: name }
        | Change::IntegerPrimaryKey { table: name, .. } => table.name == *name,
        Change::IdsToBlobs { columns } => columns.iter().any(|own| own.table == table.name),
        Change::PageSize { .. } | Change::Vacuum => false,
    }
}
