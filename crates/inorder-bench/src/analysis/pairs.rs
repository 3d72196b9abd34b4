//! Ratios between two cells, in pairs of trials.

use crate::{
    core_time,
    metrics::Metric,
    results::{Cell, Run, Trial},
    statistics::{Ratio, ratio_of},
};

/// A ratio of a metric between two cells of an experiment, A over B, in pairs by repetition. Times on a core are corrected by
/// the reference work ([`Metric::pair`]).
///
/// `None` where no repetition has both values.
pub fn ratio(run: &Run, a: u64, b: u64, metric: &Metric) -> Option<Ratio> {
    let cell = run.cells.iter().find(|cell| cell.id == a)?;
    let exponent = reference_exponent(run, &cell.experiment, metric);
    ratio_of_pairs(run, a, b, |a, b| metric.pair(a, b, exponent))
}

/// How far a metric follows the reference work in the trials of an experiment: a trial takes `x^k` times as long while the
/// reference work takes `x` times as long. From 0 to 1, and 1 where it cannot be fitted.
pub fn reference_exponent(run: &Run, experiment: &str, metric: &Metric) -> f64 {
    if !metric.is_on_core() {
        return 1.0;
    }
    let times = |cell: &Cell| {
        let trials = run.trials_of(cell.id).into_iter();
        trials.filter_map(|trial| metric.core_time(trial)).collect()
    };
    core_time::exponent(run.cells_of(experiment).into_iter().map(times))
}

/// The same as measured, without the correction.
pub fn ratio_as_measured(run: &Run, a: u64, b: u64, metric: &Metric) -> Option<Ratio> {
    ratio_of_pairs(run, a, b, |a, b| Some(((metric.of)(a)?, (metric.of)(b)?)))
}

/// The ratio of two numbers of each pair of trials, A over B.
pub(crate) fn ratio_of_pairs(
    run: &Run,
    a: u64,
    b: u64,
    of: impl Fn(&Trial, &Trial) -> Option<(f64, f64)>,
) -> Option<Ratio> {
    let b = run.trials_of(b);
    let of_pair = |trial: &Trial| {
        let partner = b.iter().find(|t| t.repetition == trial.repetition)?;
        of(trial, partner)
    };
    let pairs: Vec<(f64, f64)> = run.trials_of(a).into_iter().filter_map(of_pair).collect();
    ratio_of(&pairs)
}
