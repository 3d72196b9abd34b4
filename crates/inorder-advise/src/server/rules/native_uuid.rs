//! UUIDs that are stored as text: the server's own type takes 16 bytes. The bytes of hashes that are
//! stored as hexadecimal digits take half of them. Columns that hold the same ids go together.

use super::{
    Action, Candidate, ColumnName, Facts, Group,
    shared::{blocker, pairs},
    shown,
};
use crate::{
    read::{Case, Form},
    rules::Class,
    server::{
        ids::{IdColumn, Storage},
        model::{ColumnTo, Database, Product},
    },
};

/// Bytes of a UUID.
const UUID_BYTES: u64 = 16;
/// The release of MariaDB that has the type.
const MARIADB_UUID: (u32, u32) = (10, 7);

pub(super) fn find(facts: &Facts<'_>) -> Vec<Candidate> {
    let database = facts.database;
    let texts: Vec<&IdColumn> = facts
        .ids
        .iter()
        .filter(|ids| {
            ids.storage == Storage::Text && ids.kinds.iter().all(|kind| is_hex(kind.form))
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

/// Whether it is written in hexadecimal digits.
fn is_hex(form: Form) -> bool {
    matches!(form, Form::Uuid(_) | Form::Hex { .. })
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
    let written: Vec<Form> = group
        .iter()
        .flat_map(|ids| &ids.kinds)
        .map(|kind| kind.form)
        .collect();
    let bytes = written.first().map_or(UUID_BYTES, |form| form.bytes());
    let has_prefix = written.iter().any(|form| is_prefixed(*form));
    let is_hash = bytes != UUID_BYTES || has_prefix || group.iter().all(|ids| ids.is_hash());
    let (kind, what) = match is_hash {
        true => (
            Group::BinaryHash,
            format!("hashes or tokens of {} bits as text", 8 * bytes),
        ),
        false => (Group::NativeUuid, "UUIDs as text".to_owned()),
    };
    let mut candidate = Candidate::about(table, &object, kind, Class::App);
    let to = new_type(database, is_hash, bytes, has_prefix)?;
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
        1 => what,
        count => format!("{what}, {count} columns together: {}", names.join(", ")),
    };
    if let Some(ids) = group.iter().find(|ids| ids.exceptions > 0) {
        return Some(candidate.rejected(format!(
            "{}.{} holds other values too",
            ids.table, ids.column
        )));
    }
    if let Some(reason) = obstacle(&written, is_hash) {
        return Some(candidate.rejected(reason));
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

/// The type that holds the bytes.
fn new_type(database: &Database, is_hash: bool, bytes: u64, has_prefix: bool) -> Option<ColumnTo> {
    let has_uuid = match database.product {
        Product::Postgres => true,
        Product::Mariadb => {
            database.release >= MARIADB_UUID && database.version.contains("MariaDB")
        }
    };
    Some(match is_hash {
        true if bytes != UUID_BYTES || has_prefix => ColumnTo::Bytes {
            bytes: u8::try_from(bytes).ok()?,
            has_prefix,
        },
        false if has_uuid => ColumnTo::Uuid,
        _ => ColumnTo::Binary16,
    })
}

/// Whether `0x` is before the digits.
fn is_prefixed(form: Form) -> bool {
    matches!(
        form,
        Form::Hex {
            has_prefix: true,
            ..
        }
    )
}

/// Why the bytes would not lead back to the same texts, or not be of one length.
fn obstacle(written: &[Form], is_hash: bool) -> Option<&'static str> {
    let first = written.first()?;
    let is_other =
        |form: &Form| form.bytes() != first.bytes() || is_prefixed(*form) != is_prefixed(*first);
    if written.iter().any(is_other) {
        return Some("its ids are written in more than one way");
    }
    // The case of a UUID's digits means nothing; that of an address of Ethereum is a checksum.
    let is_mixed = |form: &Form| {
        matches!(
            form,
            Form::Hex {
                case: Case::Mixed,
                ..
            }
        )
    };
    let cases: Vec<&Form> = written.iter().filter(|form| *form != first).collect();
    (is_hash && (written.iter().any(is_mixed) || !cases.is_empty()))
        .then_some("its digits are in both cases: bytes keep none")
}

/// What the application notices, and what a sample doesn't tell.
fn notes(database: &Database, group: &[&IdColumn], to: ColumnTo) -> Vec<String> {
    let mut notes = Vec::new();
    notes.push(match to {
        ColumnTo::Uuid => {
            "Drivers then send and return UUIDs, not texts; comparisons with text need a cast."
                .into()
        }
        _ => "Programs then send and read bytes, and convert them from and to hexadecimal digits."
            .into(),
    });
    if to == ColumnTo::Uuid
        && group
            .iter()
            .any(|ids| ids.form() != Some(Form::Uuid(Case::Lower)))
    {
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
