//! Compares predictions with runs.
//!
//! ```text
//! cargo run --release -p inorder-bench --example predictions -- cells sqlite 24 1 --csv predictions.csv
//! cargo run --release -p inorder-bench --example predictions -- measure predictions.csv --csv measured.csv
//! cargo run --release -p inorder-bench --example predictions -- compare predictions.csv measured.csv
//! ```
//! `cells` chooses so many cells of an engine from a seed and predicts them. `again` predicts the cells of a file. `measure` runs each cell of a file as a trial. `compare`
//! prints the share of cells within the bounds, and the cells that are furthest off; `--csv` writes the errors of all.

mod cell;
mod compare;
mod loaded;
mod measure;

use cell::Cell;
use std::{error::Error, fs::File, path::Path};

type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() -> Fallible<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let csv = match arguments.iter().position(|word| word == "--csv") {
        Some(at) if at + 1 < arguments.len() => arguments.drain(at..at + 2).next_back(),
        _ => None,
    };
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match (&words[..], csv) {
        (["cells", engine, count, seed], Some(file)) => {
            predict(&Cell::choose(engine, count.parse()?, seed.parse()?)?, &file)
        }
        (["again", cells], Some(file)) => {
            let cells: Vec<(Cell, ())> = read(cells)?;
            let cells: Vec<Cell> = cells.into_iter().map(|(cell, ())| cell).collect();
            predict(&cells, &file)
        }
        (["measure", predictions], Some(file)) => measure::measure(predictions, &file),
        (["compare", predictions, measured], csv) => {
            compare::compare(predictions, measured, csv.as_deref())
        }
        _ => Err("usage: predictions cells ENGINE COUNT SEED --csv FILE | again CELLS --csv FILE | measure PREDICTIONS --csv FILE | compare PREDICTIONS MEASURED [--csv FILE]".into()),
    }
}

/// Appends the predictions of cells to a file.
fn predict(cells: &[Cell], file: &str) -> Fallible<()> {
    let mut out = appender(file)?;
    for cell in cells {
        let answer = inorder_predict::predict(&cell.question()?)?;
        out.serialize((
            cell,
            Predicted {
                predicted_bytes_per_row: answer.load_bytes.value,
                error_bytes_per_row: answer.load_bytes.error,
                predicted_size_bytes: answer.size_bytes.value,
            },
        ))?;
    }
    Ok(out.flush()?)
}

/// What is predicted about a cell.
#[derive(serde::Serialize, serde::Deserialize, Clone, Copy)]
struct Predicted {
    predicted_bytes_per_row: f64,
    error_bytes_per_row: f64,
    predicted_size_bytes: f64,
}

/// What a run of a cell measured.
#[derive(serde::Serialize, serde::Deserialize, Clone, Copy)]
struct Measured {
    measured_bytes_per_row: f64,
    measured_log_bytes_per_row: f64,
    measured_size_bytes: f64,
}

/// Opens a CSV to append to. A new one gets a header.
fn appender(file: &str) -> Fallible<csv::Writer<File>> {
    let is_new = !Path::new(file).exists();
    let out = File::options().create(true).append(true).open(file)?;
    Ok(csv::WriterBuilder::new()
        .has_headers(is_new)
        .from_writer(out))
}

/// Reads a CSV of cells, each with what was predicted or measured about it.
fn read<T: serde::de::DeserializeOwned>(file: &str) -> Fallible<Vec<(Cell, T)>> {
    let mut reader = csv::Reader::from_path(file)?;
    let headers = reader.headers()?.clone();
    let mut all = Vec::new();
    for record in reader.records() {
        let record = record?;
        let cell = record.deserialize(Some(&headers))?;
        all.push((cell, record.deserialize(Some(&headers))?));
    }
    Ok(all)
}
