//! A made-up run of every experiment that `inorder bench` measures without arguments, with all of its trials: the largest
//! page that a default run has.

use super::sample::{Behaviour, Dice, Samples, grow, page_map, sizes};
use inorder_bench::{
    engines::Engines,
    experiment::{Overrides, Scale},
    experiments::built_in,
    plan::plan,
    report::{Format, Options, render},
    results::{Cell, Run, Status, Trial},
};

/// Bytes that a page may have.
const PAGE_MAX: usize = 600_000;
/// Points of a growth curve, the most that a plot has.
const STEPS: u64 = 12;
/// Experiments that look rows up.
const READING: &[&str] = &["lookups", "payload", "uuid-beside-integer"];
/// Leaf pages of a table of 40,000 rows in random order.
const LEAVES: usize = 450;

/// The run. Its keys cost what random and ordered keys do, with noise, so that no two numbers are alike.
pub fn run() -> Run {
    let experiments = built_in(&[], Scale::Quick, &Overrides::default()).unwrap();
    let planned = plan(&experiments, 1, &Engines::default()).unwrap();
    let mut run = Run {
        experiments: planned.experiments,
        cells: planned.cells,
        trials: planned.trials,
        ..Run::default()
    };
    let mut dice = Dice(11);
    for trial in &mut run.trials {
        let cell = run.cells.iter().find(|cell| cell.id == trial.cell).unwrap();
        fill(trial, cell, &mut dice);
    }
    run
}

fn fill(trial: &mut Trial, cell: &Cell, dice: &mut Dice) {
    let level = |factor: &str| cell.levels.get(factor).map_or("", String::as_str);
    let rows = level("rows").parse().unwrap_or(40_000);
    let is_random = ["uuid4", "int-random", "token160"].contains(&level("key"));
    let behaviour = match is_random {
        true => Behaviour {
            cpu_us: 5.0,
            bytes: 4_000.0,
            growth: 0.8,
            fill: 0.7,
        },
        false => Behaviour {
            cpu_us: 1.5,
            bytes: 350.0,
            growth: 0.1,
            fill: 0.97,
        },
    };
    let mut samples = Samples::default();
    grow(&mut samples, dice, &behaviour, rows, STEPS);
    let (table, index) = (4e6 * dice.about(0.02), 1e6 * dice.about(0.02));
    sizes(&mut samples, rows, table, index, behaviour.fill);
    for (probe, value) in [
        ("depth_levels", 3.0),
        ("fanout_children", 120.0),
        ("fill_share", behaviour.fill),
        ("busy_retries", 0.0),
        ("overflow_pages", 0.0),
        ("peak_memory_bytes", 2e7),
        ("block_written_bytes", 1.6e8),
        ("engine_syncs_calls", 41.0),
    ] {
        samples.push(probe, "", rows, value * dice.about(0.02));
    }
    if trial.repetition == 0 {
        page_map(&mut samples, dice, &behaviour, LEAVES);
    }
    if READING.contains(&cell.experiment.as_str()) {
        samples.latencies("point_lookup_us", rows, 3.1 * dice.about(0.05), 96.0);
        samples.latencies("range_lookup_us", rows, 41.0 * dice.about(0.05), 480.0);
    }
    trial.samples = samples.0;
    trial.status = Status::Done;
    trial.settings = [
        ("page_size", "4096"),
        ("cache_size", "-2000"),
        ("journal_mode", "wal"),
        ("synchronous", "normal"),
        ("mmap_size", "0"),
        ("wal_autocheckpoint", "1000"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec();
}

#[test]
fn the_page_of_a_default_run_is_small() {
    let run = run();
    let page = render(&run, Format::Html, &Options::default()).unwrap();
    let cells = run.cells.len();
    assert!(run.experiments.len() >= 15 && cells > 100, "{cells} cells");
    let has = |text: &str| page.matches(text).count();
    assert!(has("<svg class=\"lines\"") > 30 && has("<table") > 60);
    assert!(page.len() <= PAGE_MAX, "{} bytes", page.len());
}
