//! From samples to numbers: medians, curves and ratios with their intervals.

mod layers;
mod noise;
mod ratio;
#[cfg(test)]
pub(crate) mod simulation;
mod spread;
mod student;

pub use layers::{APART_FROM, LayerCheck, layer_checks};
pub use noise::{is_noisy, noise_floor};
pub use ratio::{Ratio, holm, p_of_no_change, ratio_of, ratio_unpaired};
pub use spread::{Spreads, compare_spreads};

use crate::results::{Cell, Experiment, Run, Status, Trial};

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Rows in the table.
    pub rows: u64,
    /// Median over the repetitions.
    pub median: f64,
    /// Smallest.
    pub low: f64,
    /// Largest.
    pub high: f64,
}

/// A number derived from one trial's samples, for tables, ratios and plots.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its id, used in answers and in JSON; the unit ends the name.
    pub id: &'static str,
    /// Heading of its column.
    pub title: &'static str,
    /// The unit as a person reads it.
    pub unit: &'static str,
    /// Subject to the noise gate.
    pub is_time: bool,
    /// The number, `None` where it could not be observed.
    pub of: fn(&Trial) -> Option<f64>,
}

impl Trial {
    /// The last value of a probe's part; `None` where it was not observed.
    pub fn last(&self, probe: &str, part: &str) -> Option<f64> {
        self.samples
            .iter()
            .rev()
            .find(|s| s.probe == probe && s.part == part)
            .and_then(|s| s.value)
    }

    /// The samples of a probe's part as the table grew: rows and value, observed ones only.
    pub fn curve(&self, probe: &str, part: &str) -> Vec<(u64, f64)> {
        self.samples
            .iter()
            .filter(|s| s.probe == probe && s.part == part)
            .filter_map(|s| Some((s.rows, s.value?)))
            .collect()
    }

    /// The parts of a probe, in the order they were taken, each once.
    pub fn parts(&self, probe: &str) -> Vec<&str> {
        let mut parts: Vec<&str> = Vec::new();
        for sample in self.samples.iter().filter(|s| s.probe == probe) {
            if !parts.contains(&sample.part.as_str()) {
                parts.push(&sample.part);
            }
        }
        parts
    }
}

impl Run {
    /// The experiment with this name.
    pub fn experiment(&self, name: &str) -> Option<&Experiment> {
        self.experiments.iter().find(|e| e.name == name)
    }

    /// The cell with this id.
    pub fn cell(&self, id: u64) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.id == id)
    }

    /// The cells of an experiment, the twin last.
    pub fn cells_of(&self, experiment: &str) -> Vec<&Cell> {
        let mut cells: Vec<&Cell> = self
            .cells
            .iter()
            .filter(|cell| cell.experiment == experiment)
            .collect();
        cells.sort_by_key(|cell| (cell.is_twin, cell.id));
        cells
    }

    /// The first cell (no twin) of an experiment that has all these levels.
    pub fn find_cell(&self, experiment: &str, levels: &[(&str, &str)]) -> Option<&Cell> {
        self.find_cells(experiment, levels).into_iter().next()
    }

    /// Every cell with these levels, but no twin.
    pub fn find_cells(&self, experiment: &str, levels: &[(&str, &str)]) -> Vec<&Cell> {
        let mut cells = self.cells_of(experiment);
        cells.retain(|cell| {
            let has = |factor: &str, level| cell.levels.get(factor).is_some_and(|l| l == level);
            !cell.is_twin && levels.iter().all(|(factor, level)| has(factor, level))
        });
        cells
    }

    /// The finished trials of a cell, by repetition.
    pub fn trials_of(&self, cell: u64) -> Vec<&Trial> {
        let mut trials: Vec<&Trial> = self
            .trials
            .iter()
            .filter(|trial| trial.cell == cell && trial.status == Status::Done)
            .collect();
        trials.sort_by_key(|trial| trial.repetition);
        trials
    }

    /// Median of a metric over a cell's finished trials.
    pub fn median(&self, cell: u64, metric: &Metric) -> Option<f64> {
        median(self.trials_of(cell).iter().filter_map(|t| (metric.of)(t)))
    }

    /// A growth probe's median curve over a cell's finished trials (cumulative values).
    pub fn curve(&self, cell: u64, probe: &str, part: &str) -> Vec<Point> {
        let curves: Vec<Vec<(u64, f64)>> = self
            .trials_of(cell)
            .iter()
            .map(|trial| trial.curve(probe, part))
            .collect();
        points(&curves)
    }

    /// The same per row and marginal: between two samples, what one row added. At most 12 points.
    pub fn marginal_curve(&self, cell: u64, probe: &str, part: &str) -> Vec<Point> {
        let curves: Vec<Vec<(u64, f64)>> = self
            .trials_of(cell)
            .iter()
            .map(|trial| marginal(&trial.curve(probe, part)))
            .collect();
        points(&curves)
    }
}

/// Points of a marginal curve at most: a checkpoint falls on one sample and not on the next, so that
/// finer steps show when checkpoints were, not what a row costs.
const MARGINAL_POINTS_MAX: usize = 12;

/// Per row between two samples of a cumulative curve that starts at (0, 0).
pub(crate) fn marginal(curve: &[(u64, f64)]) -> Vec<(u64, f64)> {
    let step = curve.len().div_ceil(MARGINAL_POINTS_MAX).max(1);
    let mut earlier = (0, 0.0);
    let mut out = Vec::with_capacity(MARGINAL_POINTS_MAX);
    for &(rows, value) in curve.iter().skip(step - 1).step_by(step) {
        if rows > earlier.0 {
            out.push((rows, (value - earlier.1) / (rows - earlier.0) as f64));
            earlier = (rows, value);
        }
    }
    out
}

/// Median, smallest and largest at each row count of the first curve that most curves share.
fn points(curves: &[Vec<(u64, f64)>]) -> Vec<Point> {
    let Some(first) = curves.first() else {
        return Vec::new();
    };
    first
        .iter()
        .filter_map(|&(rows, _)| {
            let values: Vec<f64> = curves
                .iter()
                .filter_map(|curve| {
                    let at = curve.partition_point(|&(r, _)| r < rows);
                    curve.get(at).filter(|(r, _)| *r == rows).map(|(_, v)| *v)
                })
                .collect();
            Some(Point {
                rows,
                median: median(values.iter().copied())?,
                low: values.iter().copied().fold(f64::INFINITY, f64::min),
                high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            })
        })
        .collect()
}

/// A ratio of a metric between two cells, A over B, in pairs by repetition.
///
/// `None` where no repetition has both values.
pub fn ratio(run: &Run, a: u64, b: u64, metric: &Metric) -> Option<Ratio> {
    let b = run.trials_of(b);
    let pairs: Vec<(f64, f64)> = run
        .trials_of(a)
        .into_iter()
        .filter_map(|trial| {
            let partner = b.iter().find(|t| t.repetition == trial.repetition)?;
            Some(((metric.of)(trial)?, (metric.of)(partner)?))
        })
        .collect();
    ratio_of(&pairs)
}

/// The median; `None` of nothing.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        n if n % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Sample;

    #[test]
    fn median_of_odd_even_and_nothing() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median([f64::NAN]), None);
        assert_eq!(median([]), None);
    }

    #[test]
    fn marginal_is_what_a_row_added() {
        assert_eq!(
            marginal(&[(10, 100.0), (20, 400.0), (20, 500.0), (40, 800.0)]),
            [(10, 10.0), (20, 30.0), (40, 20.0)]
        );
    }

    #[test]
    fn points_span_the_repetitions() {
        let curves = [vec![(10, 1.0), (20, 5.0)], vec![(10, 3.0)], vec![(10, 2.0)]];
        let point = points(&curves)[0];
        assert_eq!(
            (point.rows, point.median, point.low, point.high),
            (10, 2.0, 1.0, 3.0)
        );
        assert_eq!(points(&curves)[1].median, 5.0);
    }

    #[test]
    fn unobserved_is_not_a_number() {
        let sample = |value| Sample {
            probe: "wall_s".into(),
            rows: 5,
            value,
            ..Sample::default()
        };
        let trial = Trial {
            samples: vec![sample(Some(2.0)), sample(None)],
            ..Trial::default()
        };
        assert_eq!(trial.last("wall_s", ""), None);
        assert_eq!(trial.curve("wall_s", ""), [(5, 2.0)]);
    }
}
