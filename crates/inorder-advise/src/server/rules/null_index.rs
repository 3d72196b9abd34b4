//! An index over a column that is NULL in every row becomes partial: PostgreSQL stores NULLs in its B-trees.

use super::{Action, Candidate, Facts, Group};
use crate::{rules::Class, server::model::TableKind};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for table in &facts.database.tables {
        if !matches!(table.kind, TableKind::Ordinary) {
            continue;
        }
        for index in &table.indexes {
            let Some(column) = index.terms.first().and_then(|term| term.column.as_ref()) else {
                continue;
            };
            let is_all_null = table
                .column(column)
                .is_some_and(|column| column.is_all_null);
            if !is_all_null
                || index.method != "btree"
                || index.predicate.is_some()
                || !index.is_valid
            {
                continue;
            }
            let mut candidate = Candidate::about(table, &index.name, Group::NullIndex, Class::Safe);
            candidate.bytes = Some(index.bytes);
            candidate.actions = vec![Action::PartialIndex {
                schema: table.schema.clone(),
                table: table.name.clone(),
                index: index.name.clone(),
                column: column.clone(),
            }];
            candidate.reason =
                format!("{column} is NULL in every row: … WHERE {column} IS NOT NULL");
            if index.is_unique || index.constraint.is_some() {
                found.push(candidate.rejected(format!(
                    "{column} is NULL in every row; ON CONFLICT and foreign keys need the index as it is"
                )));
                continue;
            }
            if index.terms.len() > 1 || !index.include.is_empty() {
                found.push(candidate.rejected(format!(
                    "{column} is NULL in every row; the other columns may be asked for"
                )));
                continue;
            }
            if index.is_replica_identity || index.is_cluster_order || index.parent.is_some() {
                continue;
            }
            let keys = table
                .foreign_keys
                .iter()
                .filter(|key| key.columns.first() == Some(column));
            for key in keys {
                candidate.notes.push(format!(
                    "Not dropped: the foreign key {} looks rows up by it, and uses the partial index.",
                    key.name
                ));
            }
            candidate
                .notes
                .push(format!("Queries with {column} IS NULL will not use it."));
            found.push(candidate);
        }
    }
    found
}
