//! Measures nanoseconds per row of each way to fill a column.
//!
//! `cargo bench -p inorder-bench --bench fill`

use std::sync::Arc;
use std::time::Instant;

use inorder_bench::generate::{Fill, Filler};
use inorder_engine::Column;

const ROWS: usize = 100_000;
const RUNS: usize = 50;

fn main() {
    let parent = || Arc::new(Column::Integers((0..36_000).collect()));
    let (length_min, length_max) = (20, 200);
    println!("batches of {ROWS} rows, best of {RUNS}, ns per row");
    for (name, fill) in [
        ("sequence", Fill::Sequence { start: 1, step: 1 }),
        ("random integer", Fill::RandomInt { low: 1, high: 100 }),
        (
            "random real",
            Fill::RandomReal {
                low: 0.0,
                high: 10.0,
            },
        ),
        (
            "random blob",
            Fill::RandomBlob {
                length_min,
                length_max,
            },
        ),
        (
            "random blob of 20 bytes",
            Fill::RandomBlob {
                length_min: 20,
                length_max: 20,
            },
        ),
        (
            "random text, 10 to 64",
            Fill::RandomText {
                length_min: 10,
                length_max: 64,
            },
        ),
        ("titles", Fill::Words),
        ("user names", Fill::Names),
        (
            "cycle",
            Fill::Each {
                from: parent(),
                repeat: 1,
            },
        ),
        (
            "each 100 times",
            Fill::Each {
                from: parent(),
                repeat: 100,
            },
        ),
        (
            "pick",
            Fill::Pick {
                from: parent(),
                distinct_within: None,
            },
        ),
        (
            "pick, distinct within 100",
            Fill::Pick {
                from: parent(),
                distinct_within: Some(100),
            },
        ),
    ] {
        println!("{name:<28}{:>7.2}", fill_ns(fill));
    }
}

fn fill_ns(fill: Fill) -> f64 {
    let mut filler = Filler::new(fill, 1).expect("the fills above are good");
    let run = || {
        let start = Instant::now();
        std::hint::black_box(filler.fill(ROWS));
        start.elapsed()
    };
    let best = std::iter::repeat_with(run).take(RUNS).min();
    best.map_or(0.0, |time| time.as_nanos() as f64 / ROWS as f64)
}
