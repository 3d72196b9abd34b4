//! UUIDs that are stored as text: the server's own type takes 16 bytes. So do the bytes of hashes that are stored as 32
//! hexadecimal digits. Columns that hold the same ids go together.

use super::{
    Action, Candidate, ColumnName, Facts, Group,
    shared::{blocker, pairs},
    shown,
};
use crate::{
    read::Form,
    rules::Class,
    server::{
        ids::{IdColumn, Storage},
        model::{ColumnTo, Database, Product},
    },
};

/// The release of MariaDB that has the type.
const MARIADB_UUID: (u32, u32) = (10, 7);

pub(super) fn find(facts: &Facts<'_>) -> Vec<Candidate> {
    let database = facts.database;
    let texts: Vec<&IdColumn> = facts
        .ids
        .iter()
        .filter(|ids| {
            ids.storage == Storage::Text && ids.kinds.iter().all(|kind| is_uuid(kind.form))
        })
        .collect();
    let mut is_taken = vec![false; texts.len()];
    let mut found = Vec::new();
    for at in 0..texts.len() {
        if is_taken[at] {
            continue;
        }
        let group = joined(database, &texts, at, &mut is_taken);
        found.extend(candidate(facts, &group));
    }
    found
}

fn is_uuid(form: Form) -> bool {
    matches!(
        form,
        Form::Uuid
            | Form::UuidUpper
            | Form::UuidMixed
            | Form::Hex
            | Form::HexUpper
            | Form::HexMixed
    )
}

/// The columns that hold the same ids as one of them, directly or through others.
fn joined<'a>(
    database: &Database,
    texts: &[&'a IdColumn],
    first: usize,
    is_taken: &mut [bool],
) -> Vec<&'a IdColumn> {
    let (mut group, mut waiting) = (Vec::new(), vec![first]);
    is_taken[first] = true;
    while let Some(at) = waiting.pop() {
        group.push(texts[at]);
        for other in 0..texts.len() {
            if !is_taken[other]
                && (are_declared(database, texts[at], texts[other])
                    || texts[at].shares_ids_with(texts[other]))
            {
                is_taken[other] = true;
                waiting.push(other);
            }
        }
    }
    group.sort_by_key(|ids| ids.name());
    group
}

fn are_declared(database: &Database, one: &IdColumn, other: &IdColumn) -> bool {
    let refers = |child: &IdColumn, parent: &IdColumn| {
        let table = database.table(&child.schema, &child.table);
        let keys = table.map_or(&[][..], |table| &table.foreign_keys[..]);
        keys.iter().any(|key| {
            (&key.parent_schema, &key.parent) == (&parent.schema, &parent.table)
                && pairs(key).any(|pair| pair == (child.column.as_str(), parent.column.as_str()))
        })
    };
    refers(one, other) || refers(other, one)
}

fn candidate(facts: &Facts<'_>, group: &[&IdColumn]) -> Option<Candidate> {
    let database = facts.database;
    let first = group.iter().max_by_key(|ids| {
        let table = database.table(&ids.schema, &ids.table);
        table.map_or(0, |table| {
            table.referenced_by.len() as u64 * (1 << 40) + table.rows
        })
    })?;
    let table = database.table(&first.schema, &first.table)?;
    let object = format!("{}.{}", shown(table), first.column);
    let is_hash = group.iter().all(|ids| ids.is_hash());
    let (kind, what) = match is_hash {
        true => (Group::BinaryHash, "hashes or tokens of 128 bits as text"),
        false => (Group::NativeUuid, "UUIDs as text"),
    };
    let mut candidate = Candidate::about(table, &object, kind, Class::App);
    let to = match database.product {
        _ if is_hash => ColumnTo::Binary16,
        Product::Mariadb
            if database.release < MARIADB_UUID || !database.version.contains("MariaDB") =>
        {
            ColumnTo::Binary16
        }
        _ => ColumnTo::Uuid,
    };
    let columns: Vec<ColumnName> = group
        .iter()
        .map(|ids| ColumnName {
            schema: ids.schema.clone(),
            table: ids.table.clone(),
            column: ids.column.clone(),
        })
        .collect();
    candidate.actions = vec![Action::Convert {
        columns: columns.clone(),
        to,
    }];
    let names: Vec<String> = group
        .iter()
        .map(|ids| format!("{}.{}", ids.table, ids.column))
        .collect();
    candidate.reason = match group.len() {
        1 => what.into(),
        count => format!("{what}, {count} columns together: {}", names.join(", ")),
    };
    if let Some(ids) = group.iter().find(|ids| ids.exceptions > 0) {
        return Some(candidate.rejected(format!(
            "{}.{} holds other values too",
            ids.table, ids.column
        )));
    }
    if let Some(blocker) = columns
        .iter()
        .find_map(|column| blocker(facts, column, &columns))
    {
        return Some(candidate.rejected(blocker));
    }
    candidate.notes = notes(database, group, to);
    Some(candidate)
}

/// What the application notices, and what a sample doesn't tell.
fn notes(database: &Database, group: &[&IdColumn], to: ColumnTo) -> Vec<String> {
    let mut notes = Vec::new();
    notes.push(match to {
        ColumnTo::Uuid => {
            "Drivers then send and return UUIDs, not texts; comparisons with text need a cast."
                .into()
        }
        _ => {
            "Programs then send and read 16 bytes, and convert them from and to hexadecimal digits."
                .into()
        }
    });
    if to == ColumnTo::Uuid && group.iter().any(|ids| ids.form() != Some(Form::Uuid)) {
        notes.push(
            "The server prints them in lower case with hyphens, whatever they were written like."
                .into(),
        );
    }
    if group.iter().any(|ids| !is_whole(database, ids)) {
        notes.push("A sample was read: the first step of the migration checks all rows.".into());
    }
    notes
}

fn is_whole(database: &Database, ids: &IdColumn) -> bool {
    let table = database.table(&ids.schema, &ids.table);
    table
        .and_then(|table| table.sample.as_ref())
        .is_some_and(|sample| sample.is_whole)
}
