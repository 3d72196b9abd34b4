//! An index over one value is named, and stays: the file doesn't say whether a query uses it.

use super::{Candidate, Class, Group};
use crate::{
    Change,
    read::{Database, Index, Origin, Table},
};

/// Smaller tables are not worth a line.
const ROWS_MIN: u64 = 1000;

pub(super) fn find(database: &Database) -> Vec<Candidate> {
    let tables = database
        .tables
        .iter()
        .filter(|table| table.is_ordinary() && table.rows >= ROWS_MIN);
    tables
        .flat_map(|table| {
            table
                .indexes
                .iter()
                .filter_map(|index| of_index(table, index))
        })
        .collect()
}

fn of_index(table: &Table, index: &Index) -> Option<Candidate> {
    let values = &table.columns[index.terms.first()?.column?].values;
    let is_one = values.has_one_value && values.nulls == 0;
    if !is_one || index.terms.len() > 1 || index.origin != Origin::Created {
        return None;
    }
    Some(Candidate {
        rule: "",
        group: Group::OneValue,
        class: Class::Rejected,
        table: table.name.clone(),
        object: index.name.clone(),
        changes: vec![Change::DropIndex { index: index.name.clone() }],
        reason: "one value in every row; the next row may have another, and the file doesn't say whether a query uses it (--queries)".into(),
        notes: Vec::new(),
    })
}
