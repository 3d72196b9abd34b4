//! A WITHOUT ROWID table that could be stored by rowid.

use super::{
    Candidate, Class, Group,
    shared::{OTHER_ORDER, missing},
};
use crate::{
    Change,
    apply::{ignored_default, user_of_last_rowid, uses_last_rowid},
    read::{Database, Table, TableKind},
};

/// Rows from this share of a page are wide.
const WIDE: f64 = 0.05;

pub(super) fn find(database: &Database) -> Vec<Candidate> {
    let tables = database
        .tables
        .iter()
        .filter(|table| table.kind == TableKind::WithoutRowid && table.rows > 0);
    tables.map(|table| of_table(database, table)).collect()
}

fn of_table(database: &Database, table: &Table) -> Candidate {
    let bytes = table.tree.as_ref().and_then(|tree| tree.payload_bytes);
    let row_bytes = bytes.unwrap_or(0) as f64 / table.rows as f64;
    let reason = match row_bytes > WIDE * f64::from(database.page_bytes) {
        true => "its rows are wide: interior pages of a WITHOUT ROWID table hold whole rows",
        false => "stored by rowid, with an index for its key",
    };
    let mut candidate = Candidate {
        rule: "",
        group: Group::Rowid,
        class: Class::Safe,
        table: table.name.clone(),
        object: table.name.clone(),
        changes: vec![Change::Rowid {
            table: table.name.clone(),
        }],
        reason: reason.into(),
        notes: vec![
            "Rows without ORDER BY may come in another order.".into(),
            "An insert changes last_insert_rowid(), which the application may use after inserts into other tables.".into(),
        ],
    };
    let key = match table.key[..] {
        [at] if table.columns[at].declared.eq_ignore_ascii_case("INTEGER") => {
            Some(&table.columns[at])
        }
        _ => None,
    };
    if key.is_some() {
        let note = "A row inserted with NULL in the key gets the next integer, where NULL is refused today; a key that is no integer is refused.";
        candidate.notes.push(note.into());
    }
    let default = || {
        let key = key.filter(|key| key.default.is_some())?;
        Some(ignored_default(&key.name))
    };
    let conflict = || {
        table
            .inserts_differ_in_another_layout()
            .then(|| OTHER_ORDER.into())
    };
    let last_rowid = || {
        let user = user_of_last_rowid(&database.schema, &table.name)?;
        Some(uses_last_rowid(user, &table.name))
    };
    let blocker = missing(table).or_else(conflict).or_else(default);
    match blocker.or_else(last_rowid) {
        Some(blocker) => candidate.rejected(blocker),
        None => candidate,
    }
}
