//! Ratios between two cells, in pairs of trials.

use crate::{
    metrics::Metric,
    results::Run,
    statistics::{Ratio, ratio_of},
};

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
