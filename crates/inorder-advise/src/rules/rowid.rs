//! A WITHOUT ROWID table with wide rows that could be stored by rowid.

use super::{
    Candidate, Class, Group,
    shared::{OTHER_ORDER, missing},
};
use crate::{
    Change,
    read::{Database, TableKind},
};

/// Rows from this share of a page are worth a trial.
const WIDE: f64 = 0.05;

pub(super) fn find(database: &Database) -> Vec<Candidate> {
    let tables = database
        .tables
        .iter()
        .filter(|table| table.kind == TableKind::WithoutRowid && table.rows > 0);
    let is_wide =
        |bytes: u64, rows: u64| bytes as f64 / rows as f64 > WIDE * f64::from(database.page_bytes);
    tables
        .filter(|table| {
            let bytes = table
                .tree
                .as_ref()
                .and_then(|tree| tree.payload_bytes)
                .unwrap_or(0);
            is_wide(bytes, table.rows)
        })
        .map(|table| {
            let candidate = Candidate {
                rule: "",
                group: Group::Rowid,
                class: Class::Safe,
                table: table.name.clone(),
                object: table.name.clone(),
                changes: vec![Change::Rowid {
                    table: table.name.clone(),
                }],
                reason:
                    "its rows are wide: interior pages of a WITHOUT ROWID table hold whole rows"
                        .into(),
                notes: vec!["Rows without ORDER BY may come in another order.".into()],
            };
            let conflict = || {
                table
                    .inserts_differ_in_another_layout()
                    .then(|| OTHER_ORDER.into())
            };
            match missing(table).or_else(conflict) {
                Some(blocker) => candidate.rejected(blocker),
                None => candidate,
            }
        })
        .collect()
}
