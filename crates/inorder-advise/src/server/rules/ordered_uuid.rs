//! Random UUIDs: ids in the order of time for new rows. The application, or the column's default, makes them.

use super::{Action, Candidate, ColumnName, Facts, Group, shown};
use crate::{
    classify::{NewIds, made_by, place_of_new},
    read::refusal_of_order,
    rules::Class,
    server::{ids::IdColumn, model::Table},
};
use inorder_key::ByteOrder;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for ids in facts.ids {
        let is_v4 = ids
            .kinds
            .first()
            .is_some_and(|share| share.kind.starts_with(RANDOM))
            || ids.byte_order != ByteOrder::Standard;
        let Some(table) = facts
            .database
            .table(&ids.schema, &ids.table)
            .filter(|_| is_v4)
        else {
            continue;
        };
        let trees = trees(table, &ids.column);
        if trees.is_empty() {
            continue;
        }
        let object = format!("{}.{}", shown(table), ids.column);
        let mut candidate = Candidate::about(table, &object, Group::OrderedUuid, Class::App);
        if let Some(reason) = refusal(table, ids) {
            found.extend(reason.map(|reason| candidate.rejected(reason)));
            continue;
        }
        candidate.actions = vec![Action::OrderedUuid {
            column: ColumnName::of(table, &ids.column),
        }];
        let is_clustered = table
            .clustered()
            .and_then(|key| key.terms.first()?.column.as_ref())
            == Some(&ids.column);
        candidate.reason = match is_clustered {
            true => "UUIDv4 decides where each row is stored, and ends every other index".into(),
            false => format!("UUIDv4 begins {}", trees.join(", ")),
        };
        candidate
            .notes
            .push("A UUIDv7 tells its time of creation to whoever sees it.".into());
        candidate
            .notes
            .push("Rows that are there keep their ids; only new ones are in order.".into());
        let place = ids.share_before_new().map(place_of_new);
        let place = place.map(|place| format!("A UUIDv7 of today sorts {place}."));
        candidate.notes.extend(place);
        let children: Vec<&str> = table
            .referenced_by
            .iter()
            .map(|key| key.child.as_str())
            .collect();
        if !children.is_empty() {
            candidate.notes.push(format!(
                "Tables that refer to it follow: {}.",
                children.join(", ")
            ));
        }
        if let Some(default) = table
            .column(&ids.column)
            .and_then(|column| column.default.as_ref())
        {
            candidate
                .notes
                .push(format!("The default {default} makes the ids now."));
        }
        found.push(candidate);
    }
    found
}

/// Why new rows get no other ids: with a reason where one is worth a line, and without for other kinds. `None` if they may.
fn refusal(table: &Table, ids: &IdColumn) -> Option<Option<String>> {
    let default = table
        .column(&ids.column)
        .and_then(|column| column.default.as_deref());
    match ids
        .new
        .clone()
        .with_default(default.and_then(made_by).as_ref())
    {
        NewIds::InOrder(what) => {
            let place = ids.share_before_new().map(place_of_new);
            let place = place.map_or(String::new(), |place| {
                format!("; a UUIDv7 of today sorts {place}")
            });
            Some(Some(format!(
                "new rows get ids in order already: {what}{place}"
            )))
        }
        _ if ids.byte_order != ByteOrder::Standard => {
            Some(refusal_of_order(ids.byte_order).map(str::to_owned))
        }
        NewIds::Unknown => Some(None),
        NewIds::Random => ids.class.refusal().map(Some),
    }
}

/// The kinds whose version is that of random UUIDs.
const RANDOM: &str = "UUIDv4";

/// The B-trees that a column begins.
fn trees<'a>(table: &'a Table, column: &str) -> Vec<&'a str> {
    let begins = table.indexes.iter().filter(|index| {
        index.method == "btree"
            && index.terms.first().and_then(|term| term.column.as_deref()) == Some(column)
    });
    begins.map(|index| index.name.as_str()).collect()
}
