//! What counted numbers would give in place of UUIDs: named with its figure and not proposed, because every id changes.

use super::{Action, Candidate, ColumnName, Facts, Group, shown};
use crate::{
    rules::Class,
    server::{
        ids::Storage,
        model::{ColumnTo, TableKind},
    },
};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for ids in facts.ids {
        let Some(table) = facts.database.table(&ids.schema, &ids.table) else {
            continue;
        };
        let key = table.primary().and_then(|key| key.columns());
        let is_key = key.is_some_and(|columns| columns == [ids.column.as_str()]);
        let is_child = table
            .foreign_keys
            .iter()
            .any(|key| key.columns.contains(&ids.column));
        let is_wide = !matches!(ids.storage, Storage::Integer | Storage::Digits);
        // References, secrets, digests and ids of others are what they are.
        if !is_key
            || is_child
            || !is_wide
            || !ids.class.may_change()
            || table.kind != TableKind::Ordinary
        {
            continue;
        }
        let object = format!("{}.{}", shown(table), ids.column);
        let mut columns = vec![ColumnName::of(table, &ids.column)];
        for key in table
            .referenced_by
            .iter()
            .filter(|key| key.parent_columns == [ids.column.clone()])
        {
            let child = facts.database.table(&key.child_schema, &key.child);
            columns.extend(child.map(|child| ColumnName::of(child, &key.columns[0])));
        }
        columns.sort();
        columns.dedup();
        let mut candidate = Candidate::about(table, &object, Group::Bigint, Class::Rejected);
        candidate.actions = vec![Action::Convert {
            columns,
            to: ColumnTo::Bigint,
        }];
        candidate.reason = "every id would change, also outside of the database".into();
        found.push(candidate);
    }
    found
}
