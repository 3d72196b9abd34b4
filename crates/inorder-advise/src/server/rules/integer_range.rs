//! Integer keys that come to the end of their type.

use super::{Action, Candidate, ColumnName, Facts, Group, shared::blocker, shown};
use crate::{
    rules::Class,
    server::model::{Column, TableKind},
};

/// Share of the type's range from which a wider type is proposed.
const USED_MIN: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for table in &facts.database.tables {
        if matches!(table.kind, TableKind::Foreign | TableKind::Partition) {
            continue;
        }
        for column in &table.columns {
            let Some(limit) = limit(column) else { continue };
            let mut sampled = facts.ids.iter().filter(|ids| {
                (&ids.schema, &ids.table, &ids.column) == (&table.schema, &table.name, &column.name)
            });
            let largest = sampled
                .next()
                .and_then(|ids| u64::try_from(ids.largest?).ok());
            let is_key = column.is_serial
                || table.primary().is_some_and(|key| {
                    key.columns()
                        .is_some_and(|columns| columns == [column.name.as_str()])
                });
            let Some(reached) = column.counted_to.max(largest).filter(|_| is_key) else {
                continue;
            };
            let used = reached as f64 / limit as f64;
            if used < USED_MIN {
                continue;
            }
            let object = format!("{}.{}", shown(table), column.name);
            let mut columns = vec![ColumnName::of(table, &column.name)];
            for key in &table.referenced_by {
                let place = key
                    .parent_columns
                    .iter()
                    .position(|name| *name == column.name);
                let child = facts.database.table(&key.child_schema, &key.child);
                if let (Some(place), Some(child)) = (place, child) {
                    columns.push(ColumnName::of(child, &key.columns[place]));
                }
            }
            columns.sort();
            columns.dedup();
            let mut candidate = Candidate::about(table, &object, Group::IntegerRange, Class::App);
            candidate.reason = format!(
                "has reached {reached}, {:.0} % of what {} holds",
                100.0 * used,
                column.type_name
            );
            candidate
                .notes
                .push("Programs that read it into 32 bits must change first.".into());
            match columns.iter().find_map(|own| blocker(facts, own, &columns)) {
                Some(blocker) => candidate
                    .notes
                    .push(format!("No steps are printed: {blocker}.")),
                None => candidate.actions = vec![Action::Widen { columns }],
            }
            found.push(candidate);
        }
    }
    found
}

/// The largest value of an integer type that is smaller than 64 bits.
fn limit(column: &Column) -> Option<u64> {
    let is_unsigned = column.type_name.contains("unsigned");
    let bits = match column.base_type.as_str() {
        "int2" | "smallint" => 16,
        "mediumint" => 24,
        "int4" | "int" => 32,
        _ => return None,
    };
    Some((1 << (bits - u32::from(!is_unsigned))) - 1)
}
