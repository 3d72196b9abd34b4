//! Indexes that queries don't use because their build failed or their drop was interrupted: PostgreSQL writes to most of them
//! all the same (<https://www.postgresql.org/docs/current/sql-createindex.html#SQL-CREATEINDEX-CONCURRENTLY>).

use super::{Action, Candidate, Facts, Group, redundant_index::is_replaced};
use crate::{
    rules::Class,
    server::model::{Index, IndexState, Table, TableKind},
};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for table in &facts.database.tables {
        for index in &table.indexes {
            found.extend(of_index(table, index));
        }
    }
    found
}

fn of_index(table: &Table, index: &Index) -> Option<Candidate> {
    let mut candidate = Candidate::about(table, &index.name, Group::InvalidIndex, Class::Safe);
    candidate.bytes = Some(index.bytes);
    let (schema, name) = (table.schema.clone(), index.name.clone());
    let drop = Action::DropIndex {
        schema: schema.clone(),
        table: table.name.clone(),
        index: name.clone(),
    };
    let is_dropped = match index.state {
        IndexState::Valid | IndexState::Ignored => return None,
        IndexState::Building => {
            return Some(candidate.rejected(
                "invalid until CREATE INDEX or REINDEX CONCURRENTLY ends, which builds it now",
            ));
        }
        IndexState::Dropping => {
            candidate.reason =
                "invalid: its DROP INDEX CONCURRENTLY was interrupted, and queries don't use it"
                    .into();
            true
        }
        IndexState::Invalid if is_leftover(&index.name) => {
            candidate.reason =
                "invalid: left by a REINDEX CONCURRENTLY that failed; queries don't use it, writes pay for it"
                    .into();
            true
        }
        IndexState::Invalid if table.kind == TableKind::Partitioned => {
            candidate.reason = "invalid: not every partition has a part of it, and the planner and constraints don't take it".into();
            candidate.actions = vec![Action::AttachIndexes {
                schema,
                table: table.name.clone(),
                index: name,
            }];
            return Some(candidate);
        }
        IndexState::Invalid => {
            candidate.reason =
                "invalid: CREATE INDEX CONCURRENTLY failed; queries don't use it, writes pay for it".into();
            // A part goes with the whole, and a constraint needs its index.
            index.parent.is_none() && index.constraint.is_none()
        }
    };
    if !is_dropped {
        candidate.actions = vec![Action::Reindex {
            schema,
            table: table.name.clone(),
            index: name,
        }];
        return Some(candidate);
    }
    candidate.actions = vec![drop];
    candidate.notes = notes(table, index);
    Some(candidate)
}

/// What else to know of a drop.
fn notes(table: &Table, index: &Index) -> Vec<String> {
    let mut notes = Vec::new();
    if is_replaced(table, index) {
        notes.push("A valid index serves the same queries.".into());
    } else if index.state == IndexState::Invalid && !is_leftover(&index.name) {
        notes.push(format!(
            "Whoever wants it builds it again after that: {}.",
            index.definition
        ));
    }
    if index.is_unique && index.state == IndexState::Invalid {
        notes.push(
            "UNIQUE: it refuses some new duplicates today. Rows that are equal already made its build fail."
                .into(),
        );
    }
    notes
}

/// Whether REINDEX CONCURRENTLY named an index so: `…_ccnew` or `…_ccold`, with a number if the name was taken.
fn is_leftover(name: &str) -> bool {
    let name = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    name.ends_with("_ccnew") || name.ends_with("_ccold")
}

#[cfg(test)]
mod tests {
    use super::is_leftover;

    #[test]
    fn leftovers_are_told_by_their_names() {
        for name in ["a_ccnew", "a_ccold", "a_ccnew12"] {
            assert!(is_leftover(name), "{name}");
        }
        assert!(!is_leftover("a_ccnews") && !is_leftover("ccnew_a"));
    }
}
