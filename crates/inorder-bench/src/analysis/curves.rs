//! Medians and curves of the cells of a run.

use crate::{metrics::Metric, results::Run, statistics::median};

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

impl Run {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
