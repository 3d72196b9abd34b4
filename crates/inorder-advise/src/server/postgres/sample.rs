//! Rows of a table, spread over its pages, in the order in which the table stores them.

use super::quote;
use crate::{
    Error,
    server::model::{Sample, Table},
};
use inorder_engine::remote::ReadOnly;

/// Rows that are read at most,
pub const ROWS_MAX: u64 = 10_000;
/// and their bytes. Tables of wide rows give fewer rows.
const BYTES_MAX: u64 = 64 << 20;
/// Pages that a sample is spread over, if the table has more.
const PAGES_MIN: u64 = 1000;
/// Share of the most rows that a sample aims at: its size is left to chance.
const AIM: f64 = 0.9;

/// Reads a sample: small tables whole, of large ones some rows of many pages, the same at each run.
///
/// # Errors
/// If the server refuses or the time limit is exceeded.
pub fn read(session: &mut ReadOnly, table: &Table, pages: u64) -> Result<Sample, Error> {
    let binary: Vec<String> = table
        .columns
        .iter()
        .filter(|column| column.base_type == "bytea")
        .map(|column| column.name.clone())
        .collect();
    let values: Vec<String> = table
        .columns
        .iter()
        .map(|column| {
            let name = quote(&column.name);
            match column.base_type.as_str() {
                "bytea" => format!("encode(t.{name}, 'hex')"),
                _ => format!("t.{name}::text"),
            }
        })
        .collect();
    let mut sample = Sample {
        columns: table
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect(),
        binary,
        is_in_storage_order: true,
        ..Sample::default()
    };
    if values.is_empty() {
        return Ok(sample);
    }
    let values = values.join(", ");
    let from = format!(
        "FROM ONLY {}.{} t",
        quote(&table.schema),
        quote(&table.name)
    );
    let row_bytes = (table.bytes + table.toast_bytes) / table.rows.max(1);
    let rows_max = (BYTES_MAX / row_bytes.max(1)).clamp(100, ROWS_MAX);
    if table.rows <= rows_max {
        let rows = session.rows(&format!("SELECT {values} {from} LIMIT {}", rows_max + 1))?;
        if rows.len() as u64 <= rows_max {
            sample.rows = rows;
            sample.is_whole = true;
            return Ok(sample);
        }
    }
    let (percent, share) = spread(rows_max, table.rows.max(rows_max + 1), pages);
    // The hash of a row's place decides: the same rows each time, without sorting.
    sample.rows = session.rows(&format!(
        "SELECT {values} {from} TABLESAMPLE SYSTEM ({percent:.6}) REPEATABLE (1)
         WHERE (hashtext(t.ctid::text) & 1048575) < {:.0} LIMIT {rows_max}",
        share * 1_048_576.0
    ))?;
    Ok(sample)
}

/// The percentage of pages to read, and the share of their rows.
fn spread(rows_max: u64, rows: u64, pages: u64) -> (f64, f64) {
    let (rows, pages) = (rows as f64, pages.max(1) as f64);
    let aim = rows_max as f64 * AIM;
    let wanted = (aim / (rows / pages)).max(PAGES_MIN as f64).min(pages);
    (
        100.0 * wanted / pages,
        (aim / (rows * wanted / pages)).min(1.0),
    )
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn a_sample_has_the_rows_that_it_aims_at_from_many_pages() {
        for (rows, pages) in [
            (10_001, 80),
            (1_000_000, 10_000),
            (2_000_000_000, 30_000_000),
            (20_000, 20_000),
        ] {
            let (percent, share) = spread(10_000, rows, pages);
            assert!(percent <= 100.0 && share <= 1.0);
            let expected = rows as f64 * percent / 100.0 * share;
            assert!((8999.0..9001.0).contains(&expected), "{expected}");
            let read = pages as f64 * percent / 100.0;
            assert!(
                read <= 10_000.0 && read >= f64::min(1000.0, pages as f64) - 0.1,
                "{read}"
            );
        }
    }
}
