//! Random UUIDs as keys: new rows could have ids in order.

use super::{Candidate, Class, Group, shared::title};
use crate::{
    classify::{NewIds, made_by, place_of_new},
    read::{self, Column, Database, Ids, Table, now_ms},
};
use inorder_key::ByteOrder;

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
    if begins.is_empty()
        || !(ids.kinds.first()).is_some_and(|share| {
            share.kind.starts_with(RANDOM) || ids.byte_order != ByteOrder::Standard
        })
    {
        return None;
    }
    let candidate = Candidate {
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
        notes: Vec::new(),
    };
    let place = column.values.share_before(now_ms()).map(place_of_new);
    let made = column.default.as_deref().and_then(made_by);
    if let NewIds::InOrder(what) = ids.new.clone().with_default(made.as_ref()) {
        let place = place.map_or(String::new(), |place| {
            format!("; a UUIDv7 of today sorts {place}")
        });
        return Some(
            candidate.rejected(format!("new rows get ids in order already: {what}{place}")),
        );
    }
    if let Some(refusal) = read::refusal_of_order(ids.byte_order) {
        return Some(candidate.rejected(refusal));
    }
    if !ids.is_random() {
        return None;
    }
    if let Some(refusal) = column.class.as_ref().and_then(|class| class.refusal()) {
        return Some(candidate.rejected(refusal));
    }
    let mut notes = vec![
        "A UUIDv7 tells when its row was made to whoever sees it. Old rows keep their ids."
            .to_owned(),
    ];
    notes.extend(place.map(|place| format!("A UUIDv7 of today sorts {place}.")));
    Some(Candidate { notes, ..candidate })
}

/// The kinds whose version is that of random UUIDs.
const RANDOM: &str = "UUIDv4";
