//! A column of hexadecimal ids whose declared type has numeric affinity: ids that look like numbers became numbers.
//!
//! Source: <https://www.sqlite.org/datatype3.html#determination_of_column_affinity>.

use super::{Candidate, Class, Group};
use crate::read::{Column, Database, Ids, Table};

pub(super) fn find(database: &Database) -> Vec<Candidate> {
    let tables = database
        .tables
        .iter()
        .filter(|table| table.is_ordinary() && !table.is_strict);
    tables
        .flat_map(|table| {
            table
                .columns
                .iter()
                .filter_map(|column| of_column(table, column))
        })
        .collect()
}

fn of_column(table: &Table, column: &Column) -> Option<Candidate> {
    let values = &column.values;
    if !column.is_numeric() || values.texts == 0 {
        return None;
    }
    let candidate = |class, reason, note: String| Candidate {
        rule: "",
        group: Group::LostIds,
        class,
        table: table.name.clone(),
        object: format!("{}.{}", table.name, column.name),
        changes: Vec::new(),
        reason,
        notes: vec![note],
    };
    let declared = &column.declared;
    let Some(digits) = values.hex_id_digits() else {
        // Hyphens and Crockford's letters are hardly ever a number.
        Ids::of_texts(table, column)?;
        let reason =
            format!("the type {declared} has numeric affinity; no value was changed by it");
        return Some(candidate(
            Class::Rejected,
            reason,
            "Declare the column TEXT.".into(),
        ));
    };
    let numbers = values.integers + values.reals;
    // An integer with fewer digits had zeros before them.
    let is_short = |low: i64| low < 10i64.saturating_pow(digits - 1);
    let is_lost = values.reals > 0 || values.integer_range.is_some_and(|(low, _)| is_short(low));
    Some(if is_lost {
        let reason = format!(
            "{numbers} of {} ids became numbers, because the type {declared} has numeric affinity: their digits are lost",
            values.present()
        );
        let note = format!(
            "Declare the column TEXT or BLOB, and restore these ids of {digits} hexadecimal digits from another source."
        );
        candidate(Class::Lost, reason, note)
    } else {
        let reason = format!(
            "the type {declared} has numeric affinity: an id of decimal digits, or with one e among them, is stored as a number"
        );
        candidate(
            Class::App,
            reason,
            "Declare the column TEXT. No digit was lost so far.".into(),
        )
    })
}
