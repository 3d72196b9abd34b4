//! Compares what was predicted with what was measured.

use crate::{Fallible, Measured, Predicted, appender, cell::Cell, read};

/// Bounds of the error of bytes per row, and of sizes.
const BYTES_SQLITE: f64 = 0.05;
const BYTES_SERVERS: f64 = 0.10;
const SIZES: f64 = 0.02;
/// Cells that are listed.
const LISTED: usize = 5;

struct Pair {
    cell: Cell,
    predicted: Predicted,
    measured: Measured,
}

impl Pair {
    fn bytes_error(&self) -> f64 {
        self.predicted.predicted_bytes_per_row / self.measured.measured_bytes_per_row - 1.0
    }

    fn size_error(&self) -> f64 {
        self.predicted.predicted_size_bytes / self.measured.measured_size_bytes - 1.0
    }
}

/// The errors of a prediction, as shares of what was measured.
#[derive(serde::Serialize)]
struct Errors {
    bytes_error_share: f64,
    size_error_share: f64,
}

/// Prints the shares of cells within the bounds, and the worst cells, for each engine. Writes the errors of all cells to a file.
pub fn compare(predictions: &str, measured: &str, csv: Option<&str>) -> Fallible<()> {
    let runs: Vec<(Cell, Measured)> = read(measured)?;
    let mut pairs = Vec::new();
    for (cell, predicted) in read::<Predicted>(predictions)? {
        match runs.iter().find(|(run, _)| *run == cell) {
            Some((_, measured)) => pairs.push(Pair {
                cell,
                predicted,
                measured: *measured,
            }),
            None => println!("not measured: {cell:?}"),
        }
    }
    if let Some(file) = csv {
        let mut out = appender(file)?;
        for pair in &pairs {
            let errors = Errors {
                bytes_error_share: pair.bytes_error(),
                size_error_share: pair.size_error(),
            };
            out.serialize((&pair.cell, errors))?;
        }
        out.flush()?;
    }
    let mut engines: Vec<String> = pairs.iter().map(|pair| pair.cell.engine.clone()).collect();
    engines.dedup();
    for engine in engines {
        let of_engine = |pair: &&Pair| pair.cell.engine == engine;
        report(&engine, pairs.iter().filter(of_engine).collect());
    }
    Ok(())
}

fn report(engine: &str, mut pairs: Vec<&Pair>) {
    let bound = match engine {
        "sqlite" => BYTES_SQLITE,
        _ => BYTES_SERVERS,
    };
    let within = |bound: f64, error: fn(&Pair) -> f64| {
        pairs
            .iter()
            .filter(|pair| error(pair).abs() <= bound)
            .count()
    };
    let (bytes, sizes) = (
        within(bound, Pair::bytes_error),
        within(SIZES, Pair::size_error),
    );
    let count = pairs.len();
    println!(
        "{engine}: {bytes} of {count} cells within {:.0}% of the bytes per row, {sizes} within {:.0}% of the size",
        bound * 100.0,
        SIZES * 100.0
    );
    for (what, error) in [
        ("bytes", Pair::bytes_error as fn(&Pair) -> f64),
        ("size", Pair::size_error),
    ] {
        pairs.sort_by(|a, b| error(b).abs().total_cmp(&error(a).abs()));
        for pair in pairs.iter().take(LISTED) {
            let c = &pair.cell;
            println!(
                "  {what} {:+.1}%: {} {} {}, payload {}, {} indexes, {} rows by {}, cache {} KiB, checkpoint {}: {:.0} for {:.0} bytes, log {:.0}, size {:.0} for {:.0}",
                error(pair) * 100.0,
                c.key,
                c.encoding,
                c.layout,
                c.payload_bytes,
                c.indexes,
                c.rows,
                c.rows_per_transaction,
                c.cache_kib,
                c.checkpoint_pages,
                pair.predicted.predicted_bytes_per_row,
                pair.measured.measured_bytes_per_row,
                pair.measured.measured_log_bytes_per_row,
                pair.predicted.predicted_size_bytes,
                pair.measured.measured_size_bytes,
            );
        }
    }
}
