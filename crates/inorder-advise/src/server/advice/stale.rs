//! Sizes of a server that are older than its rows: InnoDB updates its statistics some time after a load.

use super::judge::Part;
use crate::server::{
    model::{Database, Product, Table},
    rules::shown,
};

/// Bytes of an InnoDB record without its values: header, transaction and roll pointer.
const RECORD_BYTES: u64 = 18;
/// Hexadecimal digits of a byte.
const DIGITS: u64 = 2;

/// Returns a sentence if the server's sizes can't be right: rows that were read are larger than their table, or a change
/// would save more than all tables have.
pub(super) fn note(database: &Database, parts: &[Part], base_bytes: u64) -> Option<String> {
    let statement = match database.product {
        Product::Postgres => "ANALYZE",
        Product::Mariadb => "ANALYZE TABLE",
    };
    let outgrown: Vec<String> = database
        .tables
        .iter()
        .filter(|_| database.product == Product::Mariadb)
        .filter(|table| least_bytes(table) > table.bytes)
        .map(shown)
        .collect();
    let saves_too_much = parts.iter().any(|part| {
        let measure = part.measure.as_ref();
        measure.is_some_and(|measure| measure.saved_bytes > base_bytes as i64)
    });
    let what = match outgrown.is_empty() {
        false => format!(
            "the rows that were read are larger than the server's size of {}",
            outgrown.join(", ")
        ),
        true if saves_too_much => "a change would save more than the tables have".into(),
        true => return None,
    };
    Some(format!(
        "Stale statistics: {what}. Run {statement}, then advise again: sizes and verdicts are unreliable, and percentages are left out."
    ))
}

/// The least bytes that InnoDB needs for the rows of a sample. Numbers and times are not counted, nor columns that may not
/// be stored: generated ones, and those with a default that were added later.
fn least_bytes(table: &Table) -> u64 {
    let Some(sample) = &table.sample else {
        return 0;
    };
    if table.row_format.eq_ignore_ascii_case("compressed") {
        return 0;
    }
    let digits_of = |name: &String| {
        let column = table.column(name)?;
        let has_default = column.default.as_ref().is_some_and(|own| own != "NULL");
        if column.generated.is_some() || has_default {
            return None;
        }
        let kind = &column.base_type;
        match sample.binary.contains(name) {
            true => Some(DIGITS),
            false => (kind.ends_with("char") || kind.ends_with("text")).then_some(1),
        }
    };
    let widths: Vec<Option<u64>> = sample.columns.iter().map(digits_of).collect();
    let bytes_of = |row: &Vec<Option<String>>| -> u64 {
        let values = row.iter().zip(&widths).filter_map(|(value, width)| {
            let letters = value.as_ref()?.chars().count() as u64;
            Some(letters / (*width)?)
        });
        RECORD_BYTES + values.sum::<u64>()
    };
    sample.rows.iter().map(bytes_of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::model::{Column, Sample};

    #[test]
    fn rows_larger_than_their_table_are_told() {
        let column = |name: &str, base_type: &str| Column {
            name: name.into(),
            base_type: base_type.into(),
            ..Column::default()
        };
        let row = vec![
            Some("ab".repeat(16)),
            Some("x".repeat(36)),
            Some("7".into()),
        ];
        let table = |bytes: u64| Table {
            schema: "shop".into(),
            name: "users".into(),
            bytes,
            columns: vec![
                column("id", "binary"),
                column("name", "varchar"),
                column("n", "int"),
            ],
            sample: Some(Sample {
                columns: vec!["id".into(), "name".into(), "n".into()],
                binary: vec!["id".into()],
                rows: vec![row.clone(); 100],
                ..Sample::default()
            }),
            ..Table::default()
        };
        let said = |product, bytes| {
            let database = Database {
                product,
                tables: vec![table(bytes)],
                ..Database::default()
            };
            note(&database, &[], bytes)
        };
        let needed = 100 * (18 + 16 + 36);
        assert_eq!(said(Product::Mariadb, needed), None);
        let note = said(Product::Mariadb, needed - 1).unwrap();
        assert!(note.contains("users") && note.contains("ANALYZE TABLE"));
        assert_eq!(said(Product::Postgres, 0), None);
    }
}
