//! A key of integers that is not the rowid, though it could be: INT, BIGINT, `INTEGER PRIMARY KEY DESC`.

use super::{
    Candidate, Class, Group,
    reliance::on_rowid,
    shared::{OTHER_ORDER, missing},
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
        .filter_map(|table| of_table(database, table))
        .collect()
}

fn of_table(database: &Database, table: &Table) -> Option<Candidate> {
    let [at] = table.key[..] else { return None };
    let column = &table.columns[at];
    let values = &column.values;
    // Types with INT in them have INTEGER affinity (<https://www.sqlite.org/datatype3.html#determination_of_column_affinity>).
    let is_integer_type = column.declared.to_ascii_uppercase().contains("INT");
    if table.rowid_alias.is_some() || !is_integer_type || values.integers == 0 {
        return None;
    }
    let candidate = Candidate {
        rule: "",
        group: Group::IntegerKey,
        class: Class::Safe,
        table: table.name.clone(),
        object: format!("{}.{}", table.name, column.name),
        changes: vec![Change::IntegerPrimaryKey { table: table.name.clone(), column: column.name.clone() }],
        reason: format!("{} PRIMARY KEY has an index beside the rowid; as INTEGER PRIMARY KEY it is the rowid", column.declared),
        notes: vec![
            format!(
                "A row inserted with NULL in the key gets the next integer, where NULL is {} today; a key that is no integer is refused.",
                if column.is_not_null { "refused" } else { "stored" }
            ),
            "Rows without ORDER BY come in the order of the key. Applications may use the rowid of today.".into(),
        ],
    };
    let others = values.rows - values.integers;
    let blocker = missing(table)
        .or_else(|| on_rowid(database, table, &table.key))
        .or_else(|| {
            (values.nulls == others && others > 0).then(|| format!("{others} keys are NULL"))
        })
        .or_else(|| {
            (others > 0).then(|| format!("{others} of {} keys are no integers: as INTEGER PRIMARY KEY they could not be stored", values.rows))
        })
        .or_else(|| {
            table.inserts_differ_in_another_layout().then(|| OTHER_ORDER.into())
        });
    Some(match blocker {
        Some(blocker) => candidate.rejected(blocker),
        None => candidate,
    })
}
