//! Compares predicted sizes of tables and indexes with real ones, over many schemas.
//!
//! ```text
//! cargo run -p inorder-advise --example predict -- postgres 300000
//! cargo run -p inorder-advise --example predict -- mariadb 300000 "long keys" --csv predictions.csv
//! ```
//! Prints a table in Markdown. `--csv FILE` appends every size to a file. Fails if a size is more than 5% off.

mod compare;

use std::path::PathBuf;

fn main() -> compare::Fallible<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let csv = match arguments.iter().position(|word| word == "--csv") {
        Some(at) if at + 1 < arguments.len() => arguments.drain(at..at + 2).next_back(),
        _ => None,
    };
    let (engine, rows, only) = match &arguments[..] {
        [engine] => (engine, "300000", ""),
        [engine, rows] => (engine, rows.as_str(), ""),
        [engine, rows, only] => (engine, rows.as_str(), only.as_str()),
        _ => return Err("usage: predict postgres|mariadb [ROWS] [SCHEMA] [--csv FILE]".into()),
    };
    let off = compare::compare(&compare::Comparison {
        engine,
        rows: rows.parse()?,
        only: &[only],
        csv: csv.map(PathBuf::from),
    })?;
    match off.is_empty() {
        true => Ok(()),
        false => Err(off.join("\n").into()),
    }
}
