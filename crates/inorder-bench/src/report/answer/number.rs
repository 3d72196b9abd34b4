//! The numbers of a template's placeholders.

use super::piece::{Piece, RestsOn, noisy_mark};
use crate::{
    analysis,
    experiment::{
        level,
        template::{EACH, FIRST, Kind, LAST, Placeholder, Selector},
    },
    format,
    metrics::{self, Metric},
    results::{Cell, Experiment, Run},
};

/// The piece of the number that a placeholder stands for, or `n/a`.
///
/// # Errors
/// If there is no such metric.
pub fn fill(
    placeholder: &Placeholder,
    run: &Run,
    experiment: &Experiment,
    is_noisy: bool,
) -> Result<Piece, String> {
    let metric = metrics::asked_for(placeholder)?;
    Ok(match number(placeholder, metric, run, experiment) {
        Some((number, rests_on)) => {
            let marked = format!("{number}{}", noisy_mark(is_noisy, metric));
            Piece::number(marked, Some(rests_on))
        }
        None => Piece::number(format::NOT_AVAILABLE, None),
    })
}

/// Whether the run has the cells of a placeholder: an engine may store no such table.
pub fn is_planned(placeholder: &Placeholder, run: &Run, experiment: &Experiment) -> bool {
    let mut sides = std::iter::once(&placeholder.a).chain(&placeholder.b);
    sides.all(|side| {
        let each = side.iter().find(|(_, level)| level == EACH);
        match each.and_then(|(factor, _)| levels_of(experiment, factor).first()) {
            Some(first) => find(run, experiment, side, Some(first)).is_some(),
            None => find(run, experiment, side, None).is_some(),
        }
    })
}

fn number(
    placeholder: &Placeholder,
    metric: &Metric,
    run: &Run,
    experiment: &Experiment,
) -> Option<(String, RestsOn)> {
    if matches!(placeholder.kind, Kind::Less | Kind::NoLess) {
        return levels(placeholder, metric, run, experiment);
    }
    let a = find(run, experiment, &placeholder.a, None)?;
    if placeholder.kind == Kind::Value {
        let trials = run.trials_of(a.id);
        let seen = trials.iter().filter(|trial| (metric.of)(trial).is_some());
        let value = format::quantity(run.median(a.id, metric)?, metric.unit);
        return Some((value, RestsOn::Trials(seen.count())));
    }
    let b = find(run, experiment, placeholder.b.as_ref()?, None)?;
    let ratio = analysis::ratio(run, a.id, b.id, metric)?;
    let text = match placeholder.kind {
        Kind::Interval => format::interval(&ratio),
        Kind::Saved => format::percent(1.0 - ratio.ratio),
        _ => format::ratio(ratio.ratio),
    };
    Some((text, RestsOn::Pairs(ratio.pairs)))
}

/// A ratio above this one is no less: cells nearer to each other are told apart by chance.
const LESS: f64 = 0.98;

/// The levels of a factor at which the first cell has less than the second, or not, in words.
fn levels(
    placeholder: &Placeholder,
    metric: &Metric,
    run: &Run,
    experiment: &Experiment,
) -> Option<(String, RestsOn)> {
    let (factor, _) = placeholder.a.iter().find(|(_, level)| level == EACH)?;
    let mut found = Vec::new();
    let mut pairs = usize::MAX;
    for level in levels_of(experiment, factor) {
        let a = find(run, experiment, &placeholder.a, Some(level))?;
        let b = find(run, experiment, placeholder.b.as_ref()?, Some(level))?;
        let ratio = analysis::ratio(run, a.id, b.id, metric)?;
        pairs = pairs.min(ratio.pairs);
        let is_less = ratio.ratio < LESS;
        found.push((
            quantity(factor, level),
            is_less == (placeholder.kind == Kind::Less),
        ));
    }
    Some((span(&found), RestsOn::Pairs(pairs)))
}

/// The levels that are meant, in words: all, none, the first ones, the last ones, or a list.
fn span(levels: &[(String, bool)]) -> String {
    let (Some((first, _)), Some((last, _))) = (levels.first(), levels.last()) else {
        return format::NOT_AVAILABLE.to_owned();
    };
    let measured = format!("{first} to {last}");
    let meant: Vec<&str> = levels
        .iter()
        .filter(|(_, is)| *is)
        .map(|(l, _)| l.as_str())
        .collect();
    let is_begin = levels.iter().take(meant.len()).all(|(_, is)| *is);
    let is_end = levels.iter().rev().take(meant.len()).all(|(_, is)| *is);
    match (meant.as_slice(), is_begin, is_end) {
        ([], ..) => format!("at none of the levels measured ({measured})"),
        _ if meant.len() == levels.len() => format!("at all levels measured ({measured})"),
        ([.., last], true, _) => format!("up to {last} ({measured} measured)"),
        ([first, ..], _, true) => format!("from {first} on ({measured} measured)"),
        _ => format!("at {} ({measured} measured)", meant.join(", ")),
    }
}

/// A level as a quantity with its unit.
fn quantity(factor: &str, level: &str) -> String {
    let (_, unit, worth) = level::unit_of(factor);
    let number: Option<f64> = level.parse().ok();
    number.map_or_else(
        || level.to_owned(),
        |number| format::quantity(number * worth, unit),
    )
}

fn levels_of<'a>(experiment: &'a Experiment, factor: &str) -> &'a [String] {
    let at = experiment.varied.iter().position(|name| name == factor);
    at.and_then(|at| experiment.levels.get(at))
        .map_or(&[], Vec::as_slice)
}

/// The first cell of a selector. `each` is the level in place of [`EACH`].
fn find<'a>(
    run: &'a Run,
    experiment: &Experiment,
    selector: &Selector,
    each: Option<&str>,
) -> Option<&'a Cell> {
    let level = |(factor, level): &'_ (String, String)| -> Option<(String, String)> {
        let all = levels_of(experiment, factor);
        let level = match level.as_str() {
            FIRST => all.first()?.clone(),
            LAST => all.last()?.clone(),
            EACH => each?.to_owned(),
            other => other.to_owned(),
        };
        Some((factor.clone(), level))
    };
    let levels: Vec<(String, String)> = selector.iter().map(level).collect::<Option<_>>()?;
    let levels: Vec<(&str, &str)> = levels
        .iter()
        .map(|(factor, level)| (factor.as_str(), level.as_str()))
        .collect();
    run.find_cell(&experiment.name, &levels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_named_as_a_range_where_they_are_one() {
        let said = |meant: [bool; 4]| {
            let levels = ["1 B", "2 B", "3 B", "4 B"].map(str::to_owned);
            span(&levels.into_iter().zip(meant).collect::<Vec<_>>())
        };
        assert_eq!(
            said([true, true, false, false]),
            "up to 2 B (1 B to 4 B measured)"
        );
        assert_eq!(
            said([false, false, true, true]),
            "from 3 B on (1 B to 4 B measured)"
        );
        assert_eq!(
            said([true, false, true, false]),
            "at 1 B, 3 B (1 B to 4 B measured)"
        );
        assert_eq!(said([true; 4]), "at all levels measured (1 B to 4 B)");
        assert_eq!(
            said([false; 4]),
            "at none of the levels measured (1 B to 4 B)"
        );
        assert_eq!(quantity("cache_kib", "512"), "512 KiB");
    }
}
