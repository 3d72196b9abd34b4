//! Inserts int-seq rows into a rowid table, one transaction, the cheapest trial there is: run it
//! under a profiler to see which share of the CPU is this crate's own.
//!
//! ```sh
//! cargo build --release -p inorder-engine --example insert_hot_path
//! perf record target/release/examples/insert_hot_path 5000000
//! perf report --no-children
//! ```

use inorder_engine::{Batch, Column, Engine, Retry, Settings, sqlite::Sqlite};
use std::{error::Error, time::Instant};

/// Rows handed over at once.
const BATCH_ROWS: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let rows: usize = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 1_000_000,
    };
    let folder = tempfile::tempdir()?;
    let database = Sqlite.create(folder.path(), &Settings::default())?;
    database.execute("CREATE TABLE t(id INTEGER PRIMARY KEY)")?;
    let mut writer = database.writer("t", &["id"], Retry::default())?;
    let mut batch = Batch {
        columns: vec![Column::Integers((0..BATCH_ROWS as i64).collect())],
    };

    let start = Instant::now();
    writer.begin()?;
    let mut written = 0;
    while written < rows {
        let count = BATCH_ROWS.min(rows - written);
        writer.insert(&batch, 0..count)?;
        written += count;
        if let Column::Integers(ids) = &mut batch.columns[0] {
            ids.iter_mut().for_each(|id| *id += BATCH_ROWS as i64);
        }
    }
    writer.commit()?;
    writer.checkpoint_if_due()?;
    let nanos = start.elapsed().as_nanos() as f64 / rows.max(1) as f64;
    eprintln!("{nanos:.0} ns per row (wall), {:?}", database.io().total());
    Ok(())
}
