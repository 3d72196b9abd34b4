//! What a migration to another key takes, phase by phase.

use crate::{
    format,
    probes::probe,
    results::{Cell, Experiment, Run},
    statistics::median,
};

/// Phases in the order in which they run, with what each does.
const PHASES: &[(&str, &str)] = &[
    ("expand", "add the column"),
    ("backfill", "fill it in batches"),
    ("index", "build its indexes"),
    ("constraints", "check NOT NULL and foreign keys"),
    ("switch", "make it the key"),
    ("drop", "drop the old column"),
];
/// The name of each column in JSON, its probe, the end of the part, and the heading.
const COLUMNS: &[(&str, &str, &str, &str)] = &[
    (
        "written_bytes",
        "migration_written_bytes",
        "",
        "bytes written",
    ),
    (
        "log_bytes",
        "migration_written_bytes",
        ".wal",
        "of these the log",
    ),
    ("wall_s", "migration_wall_s", "", "time"),
    ("cpu_s", "migration_cpu_s", "", "CPU"),
    (
        "writer_wait_ms",
        "migration_wait_ms",
        ".writer",
        "longest wait of a writer",
    ),
    (
        "reader_wait_ms",
        "migration_wait_ms",
        ".reader",
        "of a reader",
    ),
];

/// The least share of the rate of the writer that counts as kept.
const KEPT: f64 = 0.8;

/// Numbers by the names of JSON.
pub type Numbers = Vec<(&'static str, Option<f64>)>;

/// The migration of one cell.
#[derive(Clone, Debug)]
pub struct Migration {
    /// Its varied levels.
    pub label: String,
    /// Headings of the columns: the phase, and what was observed.
    pub headings: Vec<String>,
    /// One row for each phase, and the whole.
    pub rows: Vec<Vec<String>>,
    /// The name of each phase, and its numbers by the names of JSON.
    pub phases: Vec<(&'static str, Numbers)>,
    /// What it does to the size and to inserts, a sentence each.
    pub lines: Vec<String>,
}

/// The migrations of an experiment.
pub(super) fn migrations(run: &Run, experiment: &Experiment, is_noisy: bool) -> Vec<Migration> {
    let cells = run.cells_of(&experiment.name).into_iter();
    let cells = cells.filter(|cell| !cell.is_twin);
    cells
        .filter_map(|cell| migration(run, cell, &experiment.title, is_noisy))
        .collect()
}

/// The samples of one cell.
struct Samples<'a> {
    run: &'a Run,
    cell: u64,
}

impl Samples<'_> {
    fn median(&self, probe: &str, part: &str) -> Option<f64> {
        let trials = self.run.trials_of(self.cell).into_iter();
        median(trials.filter_map(|trial| trial.last(probe, part)))
    }

    fn text(&self, id: &str, part: &str) -> String {
        shown(id, self.median(id, part))
    }
}

fn shown(id: &str, value: Option<f64>) -> String {
    match (id, value) {
        ("migration_cpu_s" | "migration_wall_s", value) => {
            format::quantity_or_na(value.map(|s| s * 1e6), "us")
        }
        ("migration_wait_ms", value) => format::quantity_or_na(value.map(|ms| ms * 1e3), "us"),
        (id, value) => format::quantity_or_na(value, probe(id).map_or("", |probe| probe.unit)),
    }
}

fn migration(run: &Run, cell: &Cell, title: &str, is_noisy: bool) -> Option<Migration> {
    let samples = Samples { run, cell: cell.id };
    let moved = samples.median("migration_rows", "")?;
    let noisy = |id: &str| match is_noisy && probe(id).is_some_and(|probe| probe.is_time) {
        true => " (noisy)",
        false => "",
    };
    let headings = COLUMNS
        .iter()
        .map(|(_, id, _, title)| format!("{title}{}", noisy(id)));
    let is_seen = |phase: &&(&str, &str)| samples.median("migration_wall_s", phase.0).is_some();
    let seen: Vec<&(&'static str, &str)> = PHASES.iter().filter(is_seen).collect();
    let numbers = |phase: &str| -> Numbers {
        let number = |(name, id, end, _): &(&'static str, &str, &str, &str)| {
            (*name, samples.median(id, &format!("{phase}{end}")))
        };
        COLUMNS.iter().map(number).collect()
    };
    let phases: Vec<_> = seen
        .iter()
        .map(|(name, _)| (*name, numbers(name)))
        .collect();
    let texts = |first: String, numbers: &[(&str, Option<f64>)]| -> Vec<String> {
        let columns = COLUMNS.iter().zip(numbers);
        let texts = columns.map(|((_, id, ..), (_, value))| shown(id, *value));
        std::iter::once(first).chain(texts).collect()
    };
    let mut rows: Vec<Vec<String>> = seen
        .iter()
        .zip(&phases)
        .map(|((name, what), (_, numbers))| texts(format!("{name}: {what}"), numbers))
        .collect();
    rows.push(texts("whole".to_owned(), &whole(&phases)));
    Some(Migration {
        label: cell.label.clone(),
        // A cell alone has the title of its experiment.
        headings: std::iter::once(match cell.label == title {
            true => "phase".to_owned(),
            false => cell.label.clone(),
        })
        .chain(headings)
        .collect(),
        rows,
        phases,
        lines: lines(&samples, moved, cell),
    })
}

/// The sums of the phases; of waits the longest.
fn whole(phases: &[(&'static str, Numbers)]) -> Numbers {
    let column = |at: usize, name: &'static str| {
        let values = phases.iter().map(|(_, numbers)| numbers[at].1);
        let values: Option<Vec<f64>> = values.collect();
        let total = values.map(|values| match name.ends_with("_wait_ms") {
            true => values.into_iter().fold(0.0, f64::max),
            false => values.into_iter().sum(),
        });
        (name, total)
    };
    let columns = COLUMNS.iter().enumerate();
    columns.map(|(at, (name, ..))| column(at, name)).collect()
}

/// Rows, sizes, and inserts before and after.
fn lines(samples: &Samples<'_>, moved: f64, cell: &Cell) -> Vec<String> {
    let size = |part| samples.text("migration_size_bytes", part);
    let mut lines = vec![format!(
        "{} moved. Size: {} before, {} at most, {} after.",
        format::quantity(moved, "rows"),
        size("before"),
        size("peak"),
        size("after")
    )];
    let inserted = |part| samples.median("migration_insert_bytes", part);
    if let (Some(before), Some(after)) = (inserted("before"), inserted("after")) {
        lines.push(format!(
            "An insert writes {} before and {} after, {} times.",
            format::quantity(before, "bytes"),
            format::quantity(after, "bytes"),
            format::ratio(after / before)
        ));
    }
    if let Some(meanwhile) = samples.median("migration_rows", "inserted meanwhile")
        && meanwhile > 0.0
    {
        lines.push(format!(
            "A writer inserted {} meanwhile; a wait counts from when the row was due.",
            format::quantity(meanwhile, "rows")
        ));
        let rate = cell.levels.get("probes_per_s");
        let rate = rate.and_then(|rate| rate.parse::<f64>().ok());
        let phases = PHASES.iter();
        let seconds: f64 = phases
            .filter_map(|(name, _)| samples.median("migration_wall_s", name))
            .sum();
        if let Some(rate) = rate.filter(|rate| meanwhile < KEPT * rate * seconds) {
            lines.push(format!(
                "RATE NOT KEPT: the writer did not reach {}, and its waits contain the growing queue. Use a lower probes_per_s.",
                format::quantity(rate, "rows/s")
            ));
        }
    }
    lines
}
