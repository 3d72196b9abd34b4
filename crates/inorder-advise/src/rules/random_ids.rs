//! Random UUIDs as keys: new rows could have ids in order.

use super::{Candidate, Class, Group, shared::title};
use crate::read::{Column, Database, Ids, Table};

/// A column with one of these in its name grants access, and has to be hard to guess.
const SECRETS: [&str; 4] = ["token", "secret", "nonce", "password"];
/// Smaller tables are in the cache whole.
const ROWS_MIN: u64 = 10_000;

pub(super) fn find(database: &Database) -> Vec<Candidate> {
    let tables = database
        .tables
        .iter()
        .filter(|table| table.is_ordinary() && table.rows >= ROWS_MIN);
    tables
        .flat_map(|table| {
            (0..table.columns.len()).filter_map(|at| of_column(table, at, &table.columns[at]))
        })
        .collect()
}

fn of_column(table: &Table, at: usize, column: &Column) -> Option<Candidate> {
    let ids = Ids::of(table, column)?;
    let begins: Vec<String> = table
        .indexes
        .iter()
        .filter(|index| {
            index.is_unique && index.terms.first().and_then(|term| term.column) == Some(at)
        })
        .map(|index| title(table, index))
        .collect();
    // Only ids that are made for this table: those of a foreign key are made elsewhere.
    let is_foreign = table.foreign_keys.iter().any(|key| {
        key.columns
            .iter()
            .any(|name| name.eq_ignore_ascii_case(&column.name))
    });
    let name = column.name.to_ascii_lowercase();
    let is_secret = SECRETS.iter().any(|secret| name.contains(secret));
    if !ids.is_random() || begins.is_empty() || is_foreign || is_secret {
        return None;
    }
    Some(Candidate {
        rule: "",
        group: Group::RandomIds,
        class: Class::App,
        table: table.name.clone(),
        object: format!("{}.{}", table.name, column.name),
        changes: Vec::new(),
        reason: format!(
            "UUIDv4 for new rows: each goes to another page of {}; UUIDv7 goes to the last one",
            begins.join(", ")
        ),
        notes: vec![
            "A UUIDv7 tells when its row was made to whoever sees it. Old rows keep their ids. A token that grants access must stay random."
                .into(),
        ],
    })
}
