//! Two runs against each other: what changed, and what only seems to have.

mod render;

pub use render::render;

use crate::{
    analysis::{Metric, Ratio, is_noisy, noise_floor, ratio_unpaired},
    metrics::METRICS,
    results::{Cell, Meta, Run},
};
use std::collections::BTreeMap;

/// What two runs have in common, and how the second differs from the first.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Why the runs may not be comparable.
    pub warnings: Vec<String>,
    /// The experiments both runs have.
    pub experiments: Vec<ComparedExperiment>,
    /// Cells with finished trials in the first run only, as `experiment: cell`.
    pub only_a: Vec<String>,
    /// The same of the second run.
    pub only_b: Vec<String>,
}

/// One experiment in both runs.
#[derive(Clone, Debug)]
pub struct ComparedExperiment {
    /// Its name.
    pub name: String,
    /// Why its times are withheld, in either run.
    pub withheld: Option<String>,
    /// The cells with finished trials in both.
    pub cells: Vec<ComparedCell>,
}

/// One cell in both runs.
#[derive(Clone, Debug)]
pub struct ComparedCell {
    /// Its label.
    pub label: String,
    /// The metrics observed in both, in the order of the list of metrics.
    pub metrics: Vec<Compared>,
}

/// One metric of a cell in both runs.
#[derive(Clone, Copy, Debug)]
pub struct Compared {
    /// The metric.
    pub metric: &'static Metric,
    /// Its median in the first run.
    pub a: f64,
    /// Its median in the second.
    pub b: f64,
    /// Second over first, with its interval.
    pub ratio: Ratio,
    /// Whether that is a change.
    pub change: Change,
}

/// What a ratio between two runs means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// No change beyond the noise.
    Same,
    /// The second run's value is higher.
    Higher,
    /// The second run's value is lower.
    Lower,
    /// It looks like a change, but the noise gate withholds times.
    Withheld,
}

impl Change {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Change::Same => "same",
            Change::Higher => "higher",
            Change::Lower => "lower",
            Change::Withheld => "withheld",
        }
    }
}

/// A change of bytes or sizes below this share is none, whatever the noise floor says: alignment and
/// the varying length of integers move them that much.
const BYTES_CHANGE_MIN: f64 = 0.005;

/// The same of times: two runs of one binary on one quiet machine differ by this much.
const TIME_CHANGE_MIN: f64 = 0.05;

/// Trials each run needs before a difference of times is called a change.
const TIME_TRIALS_MIN: usize = 2;

/// Compares a run with an earlier one: cells are matched by experiment and label.
pub fn compare(a: &Run, b: &Run) -> Comparison {
    let (cells_a, cells_b) = (finished(a), finished(b));
    let only = |cells: &[&Cell], others: &[&Cell]| -> Vec<String> {
        cells
            .iter()
            .filter(|cell| matching(cell, others).is_none())
            .map(|cell| format!("{}: {}", cell.experiment, cell.label))
            .collect()
    };
    let experiments = a.experiments.iter().filter_map(|experiment| {
        let name = experiment.name.as_str();
        let withheld = is_noisy(a, name).or_else(|| is_noisy(b, name));
        let cells: Vec<ComparedCell> = cells_a
            .iter()
            .filter(|cell| cell.experiment == name)
            .filter_map(|cell| Some((cell, matching(cell, &cells_b)?)))
            .map(|(cell_a, cell_b)| ComparedCell {
                label: cell_a.label.clone(),
                metrics: METRICS
                    .iter()
                    .filter_map(|metric| {
                        compared((a, cell_a), (b, cell_b), metric, withheld.is_some())
                    })
                    .collect(),
            })
            .collect();
        (!cells.is_empty()).then(|| ComparedExperiment {
            name: name.to_owned(),
            withheld,
            cells,
        })
    });
    Comparison {
        warnings: warnings(a, b),
        experiments: experiments.collect(),
        only_a: only(&cells_a, &cells_b),
        only_b: only(&cells_b, &cells_a),
    }
}

/// The cells of a run with finished trials, without the twins.
fn finished(run: &Run) -> Vec<&Cell> {
    run.cells
        .iter()
        .filter(|cell| !cell.is_twin && !run.trials_of(cell.id).is_empty())
        .collect()
}

fn matching<'a>(cell: &Cell, others: &[&'a Cell]) -> Option<&'a Cell> {
    others
        .iter()
        .copied()
        .find(|other| other.experiment == cell.experiment && other.label == cell.label)
}

fn compared(
    (run_a, cell_a): (&Run, &Cell),
    (run_b, cell_b): (&Run, &Cell),
    metric: &'static Metric,
    is_withheld: bool,
) -> Option<Compared> {
    let values = |run: &Run, cell: &Cell| -> Vec<f64> {
        let trials = run.trials_of(cell.id).into_iter();
        trials.filter_map(|trial| (metric.of)(trial)).collect()
    };
    let (a, b) = (values(run_a, cell_a), values(run_b, cell_b));
    let ratio = ratio_unpaired(&b, &a)?;
    let floors = [(run_a, cell_a), (run_b, cell_b)]
        .into_iter()
        .filter_map(|(run, cell)| noise_floor(run, &cell.experiment, metric));
    Some(Compared {
        metric,
        a: run_a.median(cell_a.id, metric)?,
        b: run_b.median(cell_b.id, metric)?,
        change: change(&ratio, floors, metric.is_time, is_withheld),
        ratio,
    })
}

/// A change has an interval that leaves out 1 and a ratio farther from 1 than either run's own noise.
fn change(
    ratio: &Ratio,
    floors: impl Iterator<Item = Ratio>,
    is_time: bool,
    is_withheld: bool,
) -> Change {
    let distance = |ratio: f64| ratio.max(f64::MIN_POSITIVE).ln().abs();
    let least = if is_time {
        TIME_CHANGE_MIN
    } else {
        BYTES_CHANGE_MIN
    };
    let noise = floors
        .flat_map(|floor| [floor.low, floor.high])
        .map(distance)
        .fold(distance(1.0 + least), f64::max);
    let has_trials = !is_time || ratio.pairs >= TIME_TRIALS_MIN;
    if !ratio.differs() || !has_trials || distance(ratio.ratio) <= noise {
        Change::Same
    } else if is_time && is_withheld {
        Change::Withheld
    } else if ratio.ratio > 1.0 {
        Change::Higher
    } else {
        Change::Lower
    }
}

/// What differs between the runs besides what was to be compared.
fn warnings(a: &Run, b: &Run) -> Vec<String> {
    let mut out = Vec::new();
    let mut differ = |what: &str, a: String, b: String| {
        if a != b {
            out.push(format!("{what} differs: {a} against {b}"));
        }
    };
    let (x, y) = (&a.meta, &b.meta);
    differ("scale", x.scale.clone(), y.scale.clone());
    differ("seed", x.seed.to_string(), y.seed.to_string());
    differ("engine", engines(x), engines(y));
    let (host_x, host_y) = (host(x), host(y));
    for (name, value) in &host_x {
        if let Some(other) = host_y.get(name) {
            differ(&format!("host, {name},"), (*value).into(), (*other).into());
        }
    }
    if engines(x) == engines(y) && options(x) != options(y) {
        out.push("the engine was compiled with other options".to_owned());
    }
    let cells_b = finished(b);
    for cell in finished(a) {
        let warning = format!("the fixed factors of {} differ", cell.experiment);
        let is_other = matching(cell, &cells_b).is_some_and(|other| other.levels != cell.levels);
        if is_other && !out.contains(&warning) {
            out.push(warning);
        }
    }
    out
}

fn engines(meta: &Meta) -> String {
    let names: Vec<String> = meta
        .engines
        .iter()
        .map(|engine| format!("{} {}", engine.name, engine.version))
        .collect();
    names.join(", ")
}

fn options(meta: &Meta) -> Vec<&[String]> {
    meta.engines
        .iter()
        .map(|engine| engine.compile_options.as_slice())
        .collect()
}

/// What the machine is; what it measured (latencies) is another number every time.
fn host(meta: &Meta) -> BTreeMap<&str, &str> {
    meta.host
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .filter(|(name, _)| {
            !["fsync", "latency", "free", "load"]
                .iter()
                .any(|measured| name.contains(measured))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(ratio: f64, low: f64, high: f64, pairs: usize) -> Ratio {
        Ratio {
            ratio,
            low,
            high,
            pairs,
        }
    }

    fn judged(r: Ratio, floor: Option<Ratio>, is_time: bool, is_withheld: bool) -> Change {
        change(&r, floor.into_iter(), is_time, is_withheld)
    }

    #[test]
    fn a_change_is_beyond_the_floor() {
        let rise = ratio(1.2, 1.1, 1.3, 5);
        assert_eq!(judged(rise, None, true, false), Change::Higher);
        let floor = ratio(1.0, 0.8, 1.1, 5);
        assert_eq!(judged(rise, Some(floor), true, false), Change::Same);
        let fall = ratio(0.5, 0.4, 0.6, 5);
        assert_eq!(judged(fall, Some(floor), true, false), Change::Lower);
    }

    #[test]
    fn an_interval_around_one_is_no_change() {
        assert_eq!(
            judged(ratio(1.2, 0.9, 1.4, 5), None, true, false),
            Change::Same
        );
    }

    #[test]
    fn bytes_change_by_less_than_times_and_with_one_trial() {
        let small = ratio(1.01, 1.01, 1.01, 1);
        assert_eq!(judged(small, None, false, false), Change::Higher);
        assert_eq!(judged(small, None, true, false), Change::Same);
        let large = ratio(2.0, 2.0, 2.0, 1);
        assert_eq!(judged(large, None, true, false), Change::Same);
    }

    #[test]
    fn noise_withholds_times_only() {
        let rise = ratio(1.5, 1.4, 1.6, 5);
        assert_eq!(judged(rise, None, true, true), Change::Withheld);
        assert_eq!(judged(rise, None, false, true), Change::Higher);
    }
}
