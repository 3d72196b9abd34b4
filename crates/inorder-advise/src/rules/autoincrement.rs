//! AUTOINCREMENT stays: ids of deleted rows would be given out again.

use super::{Candidate, Class, Group};
use crate::read::Database;

pub(super) fn find(database: &Database) -> Vec<Candidate> {
    let tables = database
        .tables
        .iter()
        .filter(|table| table.is_autoincrement);
    let names: Vec<&str> = tables.map(|table| table.name.as_str()).collect();
    let Some(first) = names.first() else {
        return Vec::new();
    };
    vec![Candidate {
        rule: "",
        group: Group::IntegerKey,
        class: Class::Rejected,
        table: (*first).into(),
        object: format!("AUTOINCREMENT of {}", names.join(", ")),
        changes: Vec::new(),
        reason: "without it the ids of deleted rows are given out again; it costs one row of sqlite_sequence".into(),
        notes: Vec::new(),
    }]
}
