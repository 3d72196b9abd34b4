//! The table of an experiment: cells against metrics.

use crate::{
    analysis, format,
    metrics::{METRICS, Metric},
    results::{Experiment, Run},
    statistics::{Ratio, median},
};

/// Cells against metrics. Metrics that no cell could observe are left out.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The metrics.
    pub columns: Vec<Column>,
    /// The cells, in planned order; the baseline's twin is left to the noise floor.
    pub rows: Vec<Row>,
}

/// A metric of the table.
#[derive(Clone, Debug)]
pub struct Column {
    /// The metric's id.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Among those a short table shows.
    pub is_telling: bool,
    /// A time, and the noise gate withholds times.
    pub is_withheld: bool,
    /// The ratio's interval belongs beside it.
    pub has_interval: bool,
}

/// A cell of the experiment.
#[derive(Clone, Debug)]
pub struct Row {
    /// The cell's id.
    pub cell: u64,
    /// Its varied levels.
    pub label: String,
    /// The others' ratios are taken against it.
    pub is_baseline: bool,
    /// Trials that finished.
    pub done: usize,
    /// Trials that were planned.
    pub planned: usize,
    /// One for each column.
    pub readings: Vec<Reading>,
}

/// A metric of a cell.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Median over the trials; `None` where it could not be observed.
    pub median: Option<f64>,
    /// Smallest.
    pub low: Option<f64>,
    /// Largest.
    pub high: Option<f64>,
    /// The median with its unit, or `n/a`.
    pub text: String,
    /// Against the baseline; `None` for the baseline itself.
    pub ratio: Option<Ratio>,
}

/// Metrics a short table shows, where they were observed.
const TELLING: &[&str] = &[
    "cpu_us_per_row",
    "rows_per_s",
    "latency_p50_us",
    "latency_p99_us",
    "latency_p999_us",
    "latency_max_us",
    "migration_bytes_per_row",
    "migration_writer_wait_us",
    "migration_peak_growth",
    "migration_insert_bytes_before",
    "migration_insert_bytes_after",
    "hottest_shard_share",
    "hottest_shard_rows_per_s",
    "replicated_bytes_per_row",
    "certification_failures",
    "engine_bytes_per_row",
    "size_bytes",
    "size_vacuumed_bytes",
    "index_share",
    "point_warm_p50_us",
    "point_cold_p50_us",
    "range_warm_p50_us",
    "range_cold_p50_us",
    "query_warm_p50_us",
];

impl Summary {
    pub(super) fn new(run: &Run, experiment: &Experiment, is_noisy: bool) -> Self {
        let cells: Vec<_> = run
            .cells_of(&experiment.name)
            .into_iter()
            .filter(|cell| !cell.is_twin)
            .collect();
        let metrics: Vec<&Metric> = METRICS
            .iter()
            .filter(|metric| {
                cells
                    .iter()
                    .any(|cell| run.median(cell.id, metric).is_some())
            })
            .collect();
        let rows = cells
            .iter()
            .map(|cell| Row {
                cell: cell.id,
                label: cell.label.clone(),
                is_baseline: cell.id == experiment.baseline,
                done: run.trials_of(cell.id).len(),
                planned: run.trials.iter().filter(|t| t.cell == cell.id).count(),
                readings: metrics
                    .iter()
                    .map(|metric| Reading::new(run, cell.id, experiment.baseline, metric))
                    .collect(),
            })
            .collect();
        Summary {
            columns: metrics
                .iter()
                .map(|metric| Column {
                    id: metric.id,
                    title: metric.title,
                    unit: metric.unit,
                    is_telling: TELLING.contains(&metric.id),
                    is_withheld: metric.is_time && is_noisy,
                    has_interval: metric.is_time,
                })
                .collect(),
            rows,
        }
    }

    /// The columns of the short table, with their places.
    pub fn telling(&self) -> impl Iterator<Item = (usize, &Column)> {
        self.columns
            .iter()
            .enumerate()
            .filter(|(_, column)| column.is_telling)
    }
}

/// The least share of a fixed arrival rate at which it counts as kept.
const KEPT: f64 = 0.95;

impl Summary {
    /// The cells whose rows arrived faster than they were written.
    pub fn rates_not_kept(&self) -> Vec<String> {
        let kept = self
            .columns
            .iter()
            .position(|column| column.id == "rate_kept_share");
        let told = |row: &Row| {
            let share = row.readings[kept?].median.filter(|share| *share < KEPT)?;
            Some(format!(
                "RATE NOT KEPT: \"{}\" committed {} of the rows per second that arrived. Its latencies contain the growing wait, \
                 and are longer the longer a trial lasts: compare keys at a lower rate.",
                row.label,
                format::percent(share)
            ))
        };
        self.rows.iter().filter_map(told).collect()
    }
}

impl Column {
    /// Its heading, with the noise gate's mark.
    pub fn heading(&self) -> String {
        let mark = if self.is_withheld { " (noisy)" } else { "" };
        format!("{}{mark}", self.title)
    }

    /// A ratio as this column writes it.
    pub fn ratio(&self, ratio: &Ratio) -> String {
        if self.has_interval {
            format::ratio_with_interval(ratio)
        } else {
            format::ratio(ratio.ratio)
        }
    }
}

impl Row {
    /// Formats the number of trials: `5`, or `4 of 5` if some are missing.
    pub fn trials(&self) -> String {
        if self.done == self.planned {
            self.done.to_string()
        } else {
            format!("{} of {}", self.done, self.planned)
        }
    }
}

impl Reading {
    fn new(run: &Run, cell: u64, baseline: u64, metric: &Metric) -> Self {
        let values: Vec<f64> = run
            .trials_of(cell)
            .into_iter()
            .filter_map(|trial| (metric.of)(trial))
            .collect();
        let median = median(values.iter().copied());
        Reading {
            median,
            low: values.iter().copied().min_by(f64::total_cmp),
            high: values.iter().copied().max_by(f64::total_cmp),
            text: format::quantity_or_na(median, metric.unit),
            ratio: match cell == baseline {
                true => None,
                false => analysis::ratio(run, cell, baseline, metric),
            },
        }
    }
}
