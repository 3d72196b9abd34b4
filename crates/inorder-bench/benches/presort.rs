//! Measures nanoseconds per row of the pre-sort and of the standard library's sort of the same keys as slices.
//!
//! `cargo bench -p inorder-bench --bench presort [-- ROWS]`

use std::time::{Duration, Instant};

use inorder_bench::generate::{Presort, presort};
use inorder_engine::{Batch, Column};
use inorder_key::bulk::SplitMix64;

const RUNS: usize = 5;

fn main() {
    let rows = std::env::args()
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(1_000_000);
    println!("{rows} rows, best of {RUNS} runs, ns per row");
    println!("{:<34}{:>8}{:>9}{:>7}", "key", "prefix8", "key", "std");
    for (name, key, width_bytes) in [
        ("20 random bytes", random_bytes(rows, 20), 20),
        (
            "36 characters, first 8 equal",
            common_beginning(rows, 36),
            36,
        ),
        ("16 bytes, in order", in_order(rows, 16), 16),
    ] {
        let column = Column::Fixed {
            width_bytes,
            bytes: key.clone(),
            is_text: false,
        };
        let batch = Batch {
            columns: vec![column],
        };
        println!(
            "{name:<34}{:>8.1}{:>9.1}{:>7.1}",
            presort_ns(&batch, &[0], Presort::Prefix8),
            presort_ns(&batch, &[0], Presort::Key),
            slices_ns(&key, width_bytes),
        );
    }
    let (users, films) = pairs(rows);
    let batch = Batch {
        columns: vec![Column::Integers(users), Column::Integers(films)],
    };
    println!(
        "{:<34}{:>8.1}{:>9.1}",
        "two integers, 100 rows of the first",
        presort_ns(&batch, &[0, 1], Presort::Prefix8),
        presort_ns(&batch, &[0, 1], Presort::Key),
    );
}

/// The best run, the copy of the batch that each run sorts not counted.
fn presort_ns(batch: &Batch, key: &[usize], how: Presort) -> f64 {
    best(batch.rows(), || {
        let mut sorted = batch.clone();
        let start = Instant::now();
        presort(&mut sorted, key, how);
        start.elapsed()
    })
}

fn slices_ns(bytes: &[u8], width_bytes: usize) -> f64 {
    best(bytes.len() / width_bytes, || {
        let mut slices: Vec<&[u8]> = bytes.chunks_exact(width_bytes).collect();
        let start = Instant::now();
        slices.sort();
        start.elapsed()
    })
}

fn best(rows: usize, run: impl FnMut() -> Duration) -> f64 {
    let best = std::iter::repeat_with(run).take(RUNS).min();
    best.map_or(0.0, |time| time.as_nanos() as f64 / rows as f64)
}

fn random_bytes(rows: usize, width_bytes: usize) -> Vec<u8> {
    let mut random = SplitMix64::new(0);
    (0..rows * width_bytes)
        .map(|_| random.bits() as u8)
        .collect()
}

fn common_beginning(rows: usize, width_bytes: usize) -> Vec<u8> {
    let mut bytes = random_bytes(rows, width_bytes);
    for key in bytes.chunks_exact_mut(width_bytes) {
        key[..8].copy_from_slice(b"0198c3f2");
    }
    bytes
}

fn in_order(rows: usize, width_bytes: usize) -> Vec<u8> {
    let mut bytes = random_bytes(rows, width_bytes);
    for (row, key) in bytes.chunks_exact_mut(width_bytes).enumerate() {
        key[..8].copy_from_slice(&(row as u64).to_be_bytes());
    }
    bytes
}

fn pairs(rows: usize) -> (Vec<i64>, Vec<i64>) {
    let mut random = SplitMix64::new(1);
    (0..rows)
        .map(|_| {
            let user = random.below(rows as u64 / 100 + 1);
            (user as i64, random.below(36_000) as i64)
        })
        .unzip()
}
