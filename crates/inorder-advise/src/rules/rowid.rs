//! A WITHOUT ROWID table that could be stored by rowid.

use super::{
    Candidate, Class, Group,
    shared::{OTHER_ORDER, missing},
};
use crate::{
    Change,
    read::{Database, TableKind},
};

/// Rows from this share of a page are wide.
const WIDE: f64 = 0.05;

pub(super) fn find(database: &Database) -> Vec<Candidate> {
    let tables = database
        .tables
        .iter()
        .filter(|table| table.kind == TableKind::WithoutRowid && table.rows > 0);
    tables
        .map(|table| {
            let bytes = table.tree.as_ref().and_then(|tree| tree.payload_bytes);
            let row_bytes = bytes.unwrap_or(0) as f64 / table.rows as f64;
            let reason = match row_bytes > WIDE * f64::from(database.page_bytes) {
                true => {
                    "its rows are wide: interior pages of a WITHOUT ROWID table hold whole rows"
                }
                false => "stored by rowid, with an index for its key",
            };
            let candidate = Candidate {
                rule: "",
                group: Group::Rowid,
                class: Class::Safe,
                table: table.name.clone(),
                object: table.name.clone(),
                changes: vec![Change::Rowid {
                    table: table.name.clone(),
                }],
                reason: reason.into(),
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
