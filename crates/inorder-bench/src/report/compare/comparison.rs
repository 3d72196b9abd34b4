//! Compares two runs and tells changes from noise.
//!
//! Trials of the same repetition with the same seed are pairs: they got the same rows. A difference is called a change
//! where its test stays significant among all tests of the comparison (Holm, "A simple sequentially rejective multiple
//! test procedure", Scandinavian Journal of Statistics 6, 1979, which keeps the family-wise error at 5%), and where it
//! is larger than what either run's own noise floor shows.

use crate::{
    analysis::{is_noisy, noise_floor_as_measured},
    metrics::{METRICS, Metric},
    results::{Cell, Meta, Run, Trial},
    statistics::{Ratio, holm, p_of_no_change, ratio_of, ratio_unpaired},
};
use std::collections::BTreeMap;

/// The common cells of two runs, and the differences of the second from the first.
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
    /// Probability of a ratio as far from 1 where nothing has changed, before the correction for the number of tests.
    pub p: f64,
}

/// The interpretation of a ratio between two runs.
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

impl Comparison {
    /// The costs that the second run has more of, by more than this share: significant changes of bytes and times, and of
    /// rows per second downwards. Each with its experiment and cell.
    pub fn regressions(&self, share: f64) -> Vec<(&str, &str, &Compared)> {
        let mut found = Vec::new();
        for experiment in &self.experiments {
            for cell in &experiment.cells {
                let worse = cell.metrics.iter().filter(|m| m.is_worse_by(share));
                found.extend(worse.map(|m| (experiment.name.as_str(), cell.label.as_str(), m)));
            }
        }
        found
    }

    /// The cells of the first run of which nothing could be compared, as `experiment: cell`: the second run has no finished
    /// trial of them, or no metric in common.
    pub fn missing(&self) -> Vec<String> {
        let mut found = self.only_a.clone();
        for experiment in &self.experiments {
            let empty = experiment
                .cells
                .iter()
                .filter(|cell| cell.metrics.is_empty());
            found.extend(empty.map(|cell| format!("{}: {}", experiment.name, cell.label)));
        }
        found
    }

    /// Whether nothing at all was compared.
    pub fn is_empty(&self) -> bool {
        let mut cells = self
            .experiments
            .iter()
            .flat_map(|experiment| &experiment.cells);
        cells.all(|cell| cell.metrics.is_empty())
    }
}

impl Compared {
    /// Whether the second run costs more by more than this share.
    fn is_worse_by(&self, share: f64) -> bool {
        match (self.metric.unit, self.change) {
            ("bytes" | "us", Change::Higher) => self.ratio.ratio > 1.0 + share,
            ("rows/s", Change::Lower) => self.ratio.ratio < 1.0 / (1.0 + share),
            _ => false,
        }
    }
}

/// The least change of bytes or sizes that counts, even above the noise floor: alignment and
/// the varying length of integers move them that much.
const BYTES_CHANGE_MIN: f64 = 0.005;

/// The same of times: two runs of one binary on one quiet machine differ by this much.
const TIME_CHANGE_MIN: f64 = 0.05;

/// The family-wise error: the probability that any test reports a change where nothing has changed.
const FAMILY_LEVEL: f64 = 0.05;

/// Metrics that are the same for the same seed with one writer of the embedded engine: one pair of trials that differs
/// in them is a change.
const EXACT: &[&str] = &[
    "engine_bytes_per_row",
    "write_amplification",
    "size_bytes",
    "size_vacuumed_bytes",
    "index_share",
    "fill_share",
    "depth_levels",
    "fanout_children",
    "overflow_pages",
];

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
                    .filter_map(|metric| compared((a, cell_a), (b, cell_b), metric))
                    .collect(),
            })
            .collect();
        (!cells.is_empty()).then(|| ComparedExperiment {
            name: name.to_owned(),
            withheld,
            cells,
        })
    });
    let mut experiments: Vec<ComparedExperiment> = experiments.collect();
    settle(&mut experiments);
    Comparison {
        warnings: warnings(a, b),
        experiments,
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

/// Calls what is significant among all tests a change: until here only what may be one is marked.
fn settle(experiments: &mut [ComparedExperiment]) {
    let mut all: Vec<(bool, &mut Compared)> = experiments
        .iter_mut()
        .flat_map(|experiment| {
            let is_withheld = experiment.withheld.is_some();
            let metrics = experiment
                .cells
                .iter_mut()
                .flat_map(|cell| &mut cell.metrics);
            metrics.map(move |compared| (is_withheld, compared))
        })
        .collect();
    let p: Vec<f64> = all.iter().map(|(_, compared)| compared.p).collect();
    let significant = holm(&p, FAMILY_LEVEL);
    for ((is_withheld, compared), is_significant) in all.iter_mut().zip(significant) {
        compared.change = match (is_significant, compared.change) {
            (false, _) | (_, Change::Same) => Change::Same,
            (true, _) if compared.metric.is_time && *is_withheld => Change::Withheld,
            (true, change) => change,
        };
    }
}

fn compared(
    (run_a, cell_a): (&Run, &Cell),
    (run_b, cell_b): (&Run, &Cell),
    metric: &'static Metric,
) -> Option<Compared> {
    let (trials_a, trials_b) = (run_a.trials_of(cell_a.id), run_b.trials_of(cell_b.id));
    let paired: Vec<(f64, f64)> = trials_b
        .iter()
        .filter_map(|trial| {
            let is_pair =
                |other: &&&Trial| other.repetition == trial.repetition && other.seed == trial.seed;
            let other = trials_a.iter().find(is_pair)?;
            Some(((metric.of)(trial)?, (metric.of)(other)?))
        })
        .collect();
    let ratio = match paired.is_empty() {
        false => ratio_of(&paired)?,
        true => {
            let values = |trials: &[&Trial]| -> Vec<f64> {
                trials
                    .iter()
                    .filter_map(|trial| (metric.of)(trial))
                    .collect()
            };
            ratio_unpaired(&values(&trials_b), &values(&trials_a))?
        }
    };
    let level = |name: &str| cell_a.levels.get(name).map(String::as_str);
    let is_exact = EXACT.contains(&metric.id)
        && level("engine") == Some("sqlite")
        && level("writers") == Some("1");
    let p = match (&paired[..], is_exact) {
        (pairs, true) if pairs.iter().any(|(b, a)| a != b) => 0.0,
        _ => p_of_no_change(&ratio),
    };
    let floors = [(run_a, cell_a), (run_b, cell_b)]
        .into_iter()
        .filter_map(|(run, cell)| noise_floor_as_measured(run, &cell.experiment, metric));
    Some(Compared {
        metric,
        a: run_a.median(cell_a.id, metric)?,
        b: run_b.median(cell_b.id, metric)?,
        change: direction(&ratio, floors, metric.is_time),
        ratio,
        p,
    })
}

/// The direction of a ratio that is farther from 1 than the noise of either run and the least change.
fn direction(ratio: &Ratio, floors: impl Iterator<Item = Ratio>, is_time: bool) -> Change {
    let distance = |ratio: f64| ratio.max(f64::MIN_POSITIVE).ln().abs();
    let least = if is_time {
        TIME_CHANGE_MIN
    } else {
        BYTES_CHANGE_MIN
    };
    let noise = floors
        .map(|floor| distance(floor.ratio))
        .fold(distance(1.0 + least), f64::max);
    match ratio.ratio > 1.0 {
        _ if distance(ratio.ratio) <= noise => Change::Same,
        true => Change::Higher,
        false => Change::Lower,
    }
}

/// Returns the differences between the runs, apart from the compared factor.
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

/// Returns the properties of the machine, without measured latencies.
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
    use crate::{
        results::{self, Experiment, Sample, Status},
        statistics::simulation::Noise,
    };

    /// A quiet run of some cells, each with a twin of its own experiment; `seed` makes its bytes, `random` its times,
    /// which are `times` as long as usual.
    fn run(seed: u64, repetitions: u32, random: &mut Noise, times: f64) -> Run {
        let mut run = Run::default();
        for experiment in 0..4_u64 {
            let name = format!("e{experiment}");
            let first = run.cells.len() as u64 + 1;
            run.experiments.push(Experiment {
                name: name.clone(),
                baseline: first,
                ..Experiment::default()
            });
            for at in 0..8 {
                let cell = first + at;
                run.cells.push(Cell {
                    id: cell,
                    experiment: name.clone(),
                    label: format!("cell {at}"),
                    levels: [("engine", "sqlite"), ("writers", "1")]
                        .map(|(name, level)| (name.to_owned(), level.to_owned()))
                        .into(),
                    is_twin: at == 7,
                });
                for repetition in 0..repetitions {
                    // Bytes depend on the seed and the cell alone.
                    let mut of_seed = Noise::new(seed * 1000 + cell * 10 + u64::from(repetition));
                    let bytes = 1e6 * (0.01 * of_seed.normal()).exp();
                    let mut time = || times * (0.1 * random.normal()).exp();
                    let samples = [
                        ("rows_stored", 1000.0),
                        ("size_bytes", bytes),
                        ("engine_written_bytes", 3.0 * bytes),
                        ("cpu_s", time()),
                        ("wall_s", time()),
                        ("peak_memory_bytes", time()),
                    ];
                    run.trials.push(Trial {
                        id: run.trials.len() as u64 + 1,
                        cell,
                        repetition,
                        seed: seed + u64::from(repetition),
                        status: Status::Done,
                        noise: results::Noise {
                            steal: Some(0.0),
                            load_per_core: Some(0.0),
                            ..results::Noise::default()
                        },
                        samples: samples
                            .map(|(probe, value)| Sample {
                                probe: probe.into(),
                                rows: 1000,
                                value: Some(value),
                                ..Sample::default()
                            })
                            .into(),
                        ..Trial::default()
                    });
                }
            }
        }
        run
    }

    fn changes(comparison: &Comparison) -> Vec<(&'static str, Change)> {
        let cells = comparison.experiments.iter().flat_map(|e| &e.cells);
        let metrics = cells.flat_map(|cell| &cell.metrics);
        let changed = metrics.filter(|m| m.change != Change::Same);
        changed.map(|m| (m.metric.id, m.change)).collect()
    }

    #[test]
    fn two_runs_of_one_binary_hardly_ever_differ_in_anything() {
        for (other_seed, repetitions) in [(1, 3), (1, 5), (2, 3), (2, 5)] {
            const ROUNDS: usize = 100;
            let mut random = Noise::new(other_seed + u64::from(repetitions));
            let differ = (0..ROUNDS).filter(|_| {
                let first = run(1, repetitions, &mut random, 1.0);
                let second = run(other_seed, repetitions, &mut random, 1.0);
                !changes(&compare(&first, &second)).is_empty()
            });
            // 5% of 100 and twice the standard error of that.
            let differ = differ.count();
            assert!(
                differ <= 16,
                "{differ} of {ROUNDS}: seed {other_seed}, {repetitions} repetitions"
            );
        }
    }

    #[test]
    fn equal_seeds_are_pairs_and_a_real_change_is_found() {
        let mut random = Noise::new(3);
        let first = run(1, 5, &mut random, 1.0);
        let slower = run(1, 5, &mut random, 4.0);
        let found = changes(&compare(&first, &slower));
        assert!(
            found.contains(&("cpu_us_per_row", Change::Higher)),
            "{found:?}"
        );
        // The seeds are the same: no byte has moved.
        assert!(
            !found.iter().any(|(id, _)| *id == "size_bytes"),
            "{found:?}"
        );
    }

    #[test]
    fn only_costs_that_rose_by_more_than_the_bound_are_regressions() {
        let mut random = Noise::new(3);
        let first = run(1, 5, &mut random, 1.0);
        let slower = run(1, 5, &mut random, 4.0);
        let ids = |a: &Run, b: &Run, share: f64| -> BTreeMap<&'static str, usize> {
            let mut ids = BTreeMap::new();
            for (_, _, compared) in compare(a, b).regressions(share) {
                *ids.entry(compared.metric.id).or_default() += 1;
            }
            ids
        };
        let found = ids(&first, &slower, 0.05);
        assert!(found.contains_key("cpu_us_per_row"), "{found:?}");
        assert!(found.contains_key("rows_per_s"), "{found:?}");
        assert!(!found.contains_key("size_bytes"), "{found:?}");
        // Four times is 300% more. Faster is no regression.
        assert!(ids(&first, &slower, 9.0).is_empty());
        assert!(ids(&slower, &first, 0.05).is_empty());
    }

    #[test]
    fn cells_that_failed_are_missing() {
        let mut random = Noise::new(3);
        let first = run(1, 2, &mut random, 1.0);
        let mut second = first.clone();
        assert_eq!(compare(&first, &second).missing(), [""; 0]);
        assert!(!compare(&first, &second).is_empty());
        for trial in second.trials.iter_mut().filter(|trial| trial.cell == 2) {
            trial.status = Status::Failed;
        }
        for trial in second.trials.iter_mut().filter(|trial| trial.cell == 3) {
            trial.samples.clear();
        }
        let found = compare(&first, &second);
        assert_eq!(found.missing(), ["e0: cell 1", "e0: cell 2"]);
        assert!(!found.is_empty());
        second.trials.clear();
        let found = compare(&first, &second);
        // The twins are not compared.
        assert_eq!(found.missing().len(), 4 * 7);
        assert!(found.is_empty());
        assert!(compare(&Run::default(), &Run::default()).is_empty());
    }

    #[test]
    fn one_trial_of_the_same_seed_shows_a_change_of_bytes_but_none_of_times() {
        let mut random = Noise::new(5);
        let first = run(1, 1, &mut random, 1.0);
        let mut second = run(1, 1, &mut random, 3.0);
        for sample in &mut second.trials[0].samples {
            if sample.probe == "size_bytes" {
                sample.value = sample.value.map(|bytes| bytes * 1.02);
            }
        }
        assert_eq!(
            changes(&compare(&first, &second)),
            [("size_bytes", Change::Higher)]
        );
    }

    #[test]
    fn a_change_of_exact_bytes_is_found_with_several_repetitions() {
        let mut random = Noise::new(11);
        let first = run(1, 3, &mut random, 1.0);
        let mut second = run(1, 3, &mut random, 1.0);
        // The second cell's. Student's test of such pairs isn't significant among all tests of the comparison.
        for (trial, more) in second.trials[3..].iter_mut().zip([1.2, 1.3, 1.4]) {
            for sample in &mut trial.samples {
                if sample.probe == "size_bytes" {
                    sample.value = sample.value.map(|bytes| bytes * more);
                }
            }
        }
        let found = changes(&compare(&first, &second));
        assert!(found.contains(&("size_bytes", Change::Higher)), "{found:?}");
    }

    #[test]
    fn noise_withholds_times_only() {
        let mut random = Noise::new(9);
        let first = run(1, 5, &mut random, 1.0);
        let mut second = run(1, 5, &mut random, 4.0);
        for trial in &mut second.trials {
            trial.noise.steal = Some(0.5);
        }
        let found = changes(&compare(&first, &second));
        assert!(
            found.contains(&("cpu_us_per_row", Change::Withheld)),
            "{found:?}"
        );
        assert!(
            !found.contains(&("cpu_us_per_row", Change::Higher)),
            "{found:?}"
        );
    }

    #[test]
    fn a_change_is_beyond_the_floor() {
        let ratio = |ratio| Ratio {
            ratio,
            low: ratio * 0.99,
            high: ratio * 1.01,
            pairs: 5,
        };
        let of = |seen, floor: Option<f64>, is_time| {
            direction(&ratio(seen), floor.map(ratio).into_iter(), is_time)
        };
        assert_eq!(of(1.2, None, true), Change::Higher);
        assert_eq!(of(1.2, Some(1.25), true), Change::Same);
        assert_eq!(of(0.5, Some(1.25), true), Change::Lower);
        assert_eq!(of(1.01, None, false), Change::Higher);
        assert_eq!(of(1.01, None, true), Change::Same);
    }
}
