//! The numbers of a template's placeholders.

use super::piece::noisy_mark;
use crate::{
    analysis,
    experiment::template::{Kind, Placeholder, Selector},
    format,
    metrics::{self, Metric},
    results::{Cell, Experiment, Run},
    statistics::Ratio,
};

/// The number that a placeholder stands for, or `n/a`.
///
/// # Errors
/// If there is no such metric.
pub fn fill(
    placeholder: &Placeholder,
    run: &Run,
    experiment: &Experiment,
    is_noisy: bool,
) -> Result<String, String> {
    let metric = metrics::asked_for(placeholder)?;
    Ok(match number(placeholder, metric, run, &experiment.name) {
        Some(number) => format!("{number}{}", noisy_mark(is_noisy, metric)),
        None => format::NOT_AVAILABLE.to_owned(),
    })
}

fn number(
    placeholder: &Placeholder,
    metric: &Metric,
    run: &Run,
    experiment: &str,
) -> Option<String> {
    let a = find(run, experiment, &placeholder.a)?;
    let ratio = || -> Option<Ratio> {
        let b = find(run, experiment, placeholder.b.as_ref()?)?;
        analysis::ratio(run, a.id, b.id, metric)
    };
    Some(match placeholder.kind {
        Kind::Value => format::quantity(run.median(a.id, metric)?, metric.unit),
        Kind::Ratio => format::ratio(ratio()?.ratio),
        Kind::Interval => format::interval(&ratio()?),
        Kind::Saved => format::percent(1.0 - ratio()?.ratio),
    })
}

fn find<'a>(run: &'a Run, experiment: &str, selector: &Selector) -> Option<&'a Cell> {
    let levels: Vec<(&str, &str)> = selector
        .iter()
        .map(|(factor, level)| (factor.as_str(), level.as_str()))
        .collect();
    run.find_cell(experiment, &levels)
}
