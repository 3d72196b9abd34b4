//! A table with a key index that could be stored by its key.

use super::{
    Candidate, Class, Group,
    reliance::on_rowid,
    shared::{OTHER_ORDER, false_report, missing},
};
use crate::{
    Change,
    read::{Database, Table, TableKind},
};

pub(super) fn find(database: &Database) -> Vec<Candidate> {
    let tables = database
        .tables
        .iter()
        .filter(|table| table.kind == TableKind::Rowid && table.rows > 0);
    tables
        .filter(|table| table.key_index().is_some())
        .map(|table| of_table(database, table))
        .collect()
}

fn of_table(database: &Database, table: &Table) -> Candidate {
    let key = table.names(&table.key).join(", ");
    let mut candidate = Candidate {
        rule: "",
        group: Group::WithoutRowid,
        class: Class::Safe,
        table: table.name.clone(),
        object: table.name.clone(),
        changes: vec![Change::WithoutRowid {
            table: table.name.clone(),
        }],
        reason: format!("stored by its key ({key}), which needs no index beside the table"),
        notes: vec![
            "Nothing in the schema uses its rowid; the application may (rowid, last_insert_rowid)."
                .into(),
        ],
    };
    let with_null = table
        .key
        .iter()
        .find(|&&at| table.columns[at].values.nulls > 0);
    let blocker = missing(table)
        .or_else(|| on_rowid(database, table, &table.key))
        .or_else(|| {
            let column = &table.columns[*with_null?];
            Some(format!(
                "{} rows have NULL in {}: a rowid table takes them, WITHOUT ROWID refuses them",
                column.values.nulls, column.name
            ))
        })
        .or_else(|| {
            table
                .inserts_differ_in_another_layout()
                .then(|| OTHER_ORDER.into())
        });
    if let Some(blocker) = blocker {
        return candidate.rejected(blocker);
    }
    candidate.notes.extend(false_report(table, &table.key));
    if table.key.iter().any(|&at| !table.columns[at].is_not_null) {
        candidate
            .notes
            .push("A NULL in the key, which is stored today, would be refused.".into());
    }
    candidate
}
