//! Random UUIDs: ids in the order of time for new rows. The application, or the column's default, makes them.

use super::{Action, Candidate, ColumnName, Facts, Group, shown};
use crate::{rules::Class, server::model::Table};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for ids in facts.ids.iter().filter(|ids| ids.is_random_uuid()) {
        let Some(table) = facts.database.table(&ids.schema, &ids.table) else {
            continue;
        };
        let is_child = table
            .foreign_keys
            .iter()
            .any(|key| key.columns.contains(&ids.column));
        let trees = trees(table, &ids.column);
        if is_child || trees.is_empty() {
            continue;
        }
        let object = format!("{}.{}", shown(table), ids.column);
        let mut candidate = Candidate::about(table, &object, Group::OrderedUuid, Class::App);
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

/// The B-trees that a column begins.
fn trees<'a>(table: &'a Table, column: &str) -> Vec<&'a str> {
    let begins = table.indexes.iter().filter(|index| {
        index.method == "btree"
            && index.terms.first().and_then(|term| term.column.as_deref()) == Some(column)
    });
    begins.map(|index| index.name.as_str()).collect()
}
