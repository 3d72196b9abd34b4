//! An index that another one replaces: same condition, and its terms are the first terms of the other.

use super::{
    Candidate, Class, Group,
    shared::{Path, index_blocker, is_prefix, missing, paths, same_but_direction},
};
use crate::{
    Change,
    ddl::mentions,
    read::{Database, Index, Origin, Table, Term},
};

/// A wider index has entries this many times larger: worth a note.
const MUCH_WIDER: f64 = 2.0;

pub(super) fn find(database: &Database) -> Vec<Candidate> {
    let tables = database.tables.iter().filter(|table| table.is_ordinary());
    tables.flat_map(|table| of_table(database, table)).collect()
}

/// The indexes of a table that this rule would drop.
pub(super) fn dropped(database: &Database, table: &Table) -> Vec<String> {
    of_table(database, table)
        .into_iter()
        .filter(|candidate| candidate.class == Class::Safe)
        .map(|candidate| candidate.object)
        .collect()
}

fn of_table(database: &Database, table: &Table) -> Vec<Candidate> {
    let paths = paths(table);
    let mut dropped: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    // The last made goes first: of two equal ones the older stays.
    for index in table
        .indexes
        .iter()
        .rev()
        .filter(|index| index.origin == Origin::Created)
    {
        let mut rejection: Option<String> = None;
        let mut cover: Option<&Path<'_>> = None;
        let others = paths
            .iter()
            .filter(|path| path.stays_without(index, &dropped));
        for path in others {
            match replaces(table, index, path) {
                Ok(()) if cover.is_none_or(|cover| cover.terms.len() < path.terms.len()) => {
                    cover = Some(path)
                }
                Ok(()) => {}
                Err(Some(reason)) => rejection = rejection.or(Some(reason)),
                Err(None) => {}
            }
        }
        let candidate = Candidate {
            rule: "",
            group: Group::RedundantIndex,
            class: Class::Safe,
            table: table.name.clone(),
            object: index.name.clone(),
            changes: vec![Change::DropIndex {
                index: index.name.clone(),
            }],
            reason: String::new(),
            notes: Vec::new(),
        };
        match (cover, rejection) {
            (Some(path), _) => {
                let candidate = proposal(database, table, (index, path), &dropped, candidate);
                if candidate.class == Class::Safe {
                    dropped.push(&index.name);
                }
                found.push(candidate);
            }
            (None, Some(reason)) => found.push(candidate.rejected(reason)),
            (None, None) => {}
        }
    }
    found
}

fn proposal(
    database: &Database,
    table: &Table,
    (index, path): (&Index, &Path<'_>),
    dropped: &[&str],
    mut candidate: Candidate,
) -> Candidate {
    // Whoever replaces it also serves the foreign keys that it serves: only its name can be needed.
    let blocker = if index.is_unique {
        missing(table).or_else(|| super::shared::demanded_by_name(database, &index.name))
    } else {
        index_blocker(database, table, index, dropped)
    };
    if let Some(blocker) = blocker {
        return candidate.rejected(blocker);
    }
    let is_same = index.terms.len() == path.terms.len();
    candidate.reason = match (is_same, path.is_unique) {
        (true, _) => format!("same as {}", path.name),
        (false, true) => format!("begins {} (unique; stays)", path.name),
        (false, false) => format!("begins {}", path.name),
    };
    // The entries of the narrower one are in the order of the rowids.
    let next = path.terms.get(index.terms.len());
    if let (Some(alias), Some(_), Some(next)) = (table.rowid_alias, path.index, next)
        && next.column != Some(alias)
    {
        candidate.notes.push(format!(
            "A query by such an index with ORDER BY {} would sort its rows.",
            table.columns[alias].name
        ));
    }
    if let (Some(own), Some(wide)) = (entry_bytes(index), path.index.and_then(entry_bytes))
        && wide > MUCH_WIDER * own
    {
        candidate.notes.push(format!(
            "{} has {wide:.0} bytes per entry, {} has {own:.0}: range scans read more pages.",
            path.name, index.name
        ));
    }
    candidate
}

fn entry_bytes(index: &Index) -> Option<f64> {
    let tree = index.tree.as_ref()?;
    let entries = tree.entries.filter(|&entries| entries > 0)?;
    Some(tree.payload_bytes? as f64 / entries as f64)
}

/// Tells whether a path replaces an index. An error has the reason if it looks as if it did.
fn replaces(table: &Table, index: &Index, path: &Path<'_>) -> Result<(), Option<String>> {
    let name = &path.name;
    let (own, others) = (&index.terms, &path.terms);
    if let Some(reason) = expression_over(table, index, path) {
        return Err(Some(reason));
    }
    let is_near = own
        .first()
        .zip(others.first())
        .is_some_and(|(a, b)| a.column.is_some() && a.column == b.column);
    if own.is_empty() || own.len() > others.len() {
        return Err(None);
    }
    if index.condition.as_deref() != path.condition {
        let words = match (&index.condition, path.condition) {
            (Some(_), Some(_)) => "has another condition",
            (Some(_), None) => "has all rows, this one only those of its condition",
            _ => "has only the rows of its condition",
        };
        return Err(is_near.then(|| format!("{name} {words}")));
    }
    if !is_prefix(own, others) {
        return Err(why_not(own, others).map(|why| format!("{name} has {why}")));
    }
    if !index.is_unique {
        return Ok(());
    }
    if !path.is_unique || own.len() != others.len() {
        let reason = format!("UNIQUE is a constraint that {name} does not replace");
        return Err(Some(reason));
    }
    if table.inserts_differ_without(own, others) {
        let reason = format!(
            "same as {name}, but a key has an ON CONFLICT clause: the index's ABORT is checked first, \
             and without it an INSERT that fails today would not"
        );
        return Err(Some(reason));
    }
    Ok(())
}

/// Names the column of a path that an index has within an expression.
fn expression_over(table: &Table, index: &Index, path: &Path<'_>) -> Option<String> {
    let expression = index.terms.first()?.expression.as_ref()?;
    let column = &table.columns[path.terms.first()?.column?].name;
    mentions(expression, column)
        .then(|| format!("{} has {column} itself, this one {expression}", path.name))
}

/// Why terms that look alike are not the same.
fn why_not(own: &[Term], others: &[Term]) -> Option<&'static str> {
    let (a, b) = own.iter().zip(others).find(|(a, b)| a != b)?;
    let is_first = own.first() != others.first() && a.column != b.column;
    if a.column.is_some() && a.column == b.column && a.collation != b.collation {
        return Some("another collation");
    }
    if a.column.is_some() && a.column == b.column && a.is_descending != b.is_descending {
        return Some("another direction");
    }
    let same_columns = own.len() == others.len()
        && own
            .iter()
            .all(|term| others.iter().any(|other| same_but_direction(term, other)));
    if same_columns {
        return Some("the same columns in another order, which is another index");
    }
    if is_first
        && others
            .iter()
            .any(|other| same_but_direction(&own[0], other))
    {
        return Some("its first column later, not at its beginning");
    }
    None
}
