//! The default sentence: the best and the worst cell against the baseline.

use super::piece::{Piece, RestsOn, noisy_mark};
use crate::{
    analysis, format,
    metrics::{Metric, metric_named},
    results::{Cell, Experiment, Run},
    statistics::Ratio,
};

/// The metrics of the default sentence, in the order in which it ranks cells: bytes before times,
/// because they are the steadier. The words stand before and after the ratio.
const SPOKEN: &[(&str, &str, &str)] = &[
    (
        "engine_bytes_per_row",
        "writes ",
        " times the bytes per row",
    ),
    ("cpu_us_per_row", "takes ", " times the CPU"),
    ("query_warm_p50_us", "takes ", " times as long for a query"),
    (
        "point_warm_p50_us",
        "takes ",
        " times as long for a look-up",
    ),
    ("size_bytes", "takes ", " times the space"),
];

/// Cells nearer to each other than this do not rank: the next metric is asked.
const RANKING_SPREAD_MIN: f64 = 1.02;

/// Ratios named of each cell.
const NAMED_MAX: usize = 2;

/// A metric and the words around its ratio.
type Spoken = (&'static Metric, &'static str, &'static str);

/// A cell and its ratios to the baseline, in the order of [`SPOKEN`].
struct Against<'a> {
    cell: &'a Cell,
    ratios: Vec<Option<Ratio>>,
}

pub(super) fn default(run: &Run, experiment: &Experiment, is_noisy: bool) -> Vec<Piece> {
    let spoken: Vec<Spoken> = SPOKEN
        .iter()
        .filter_map(|(id, before, after)| Some((metric_named(id)?, *before, *after)))
        .collect();
    let others: Vec<Against> = run
        .cells_of(&experiment.name)
        .into_iter()
        .filter(|cell| cell.id != experiment.baseline && !cell.is_twin)
        .map(|cell| Against {
            cell,
            ratios: spoken
                .iter()
                .map(|(metric, ..)| analysis::ratio(run, cell.id, experiment.baseline, metric))
                .collect(),
        })
        .collect();
    let baseline = run
        .cell(experiment.baseline)
        .map(|cell| cell.label.as_str())
        .filter(|label| !label.is_empty())
        .unwrap_or("the baseline");
    let Some(rank) = ranking(&others, spoken.len()) else {
        return alone(run, experiment, baseline, is_noisy);
    };
    let mut ranked: Vec<(&Against, f64)> = others
        .iter()
        .filter_map(|other| Some((other, other.ratios[rank]?.ratio)))
        .collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    let say = |other: &Against| phrases(other, rank, &spoken, is_noisy);
    let (best, worst) = (ranked[0], ranked[ranked.len() - 1]);
    let (best_name, worst_name) = (quoted(&best.0.cell.label), quoted(&worst.0.cell.label));
    let mut out = vec![Piece::words(format!("Against {}: ", quoted(baseline)))];
    if ranked.len() == 1 {
        out.push(Piece::words(format!("{best_name} ")));
        out.extend(say(best.0));
    } else {
        let first = if best.1 < 1.0 { "best" } else { "nearest" };
        let last = if worst.1 > 1.0 { "worst" } else { "last" };
        let of = ranked.len() + 1;
        out.push(Piece::words(format!("the {first} of {of}, {best_name}, ")));
        out.extend(say(best.0));
        out.push(Piece::words(format!("; the {last}, {worst_name}, ")));
        out.extend(say(worst.0));
    }
    out.push(Piece::words("."));
    out
}

/// A label with marks around it where its own commas would run into the sentence's.
fn quoted(label: &str) -> String {
    match label.contains([',', ' ']) {
        true => format!("\"{label}\""),
        false => label.to_owned(),
    }
}

/// The first metric that tells the cells apart, or else the first that was observed.
fn ranking(others: &[Against], metrics: usize) -> Option<usize> {
    let observed = |rank: &usize| others.iter().any(|other| other.ratios[*rank].is_some());
    let tells_apart = |rank: &usize| {
        // The baseline itself is one of the cells: its ratio is 1.
        let (low, high) = others
            .iter()
            .filter_map(|other| Some(other.ratios[*rank]?.ratio))
            .fold((1.0_f64, 1.0_f64), |(low, high), r| {
                (low.min(r), high.max(r))
            });
        high / low > RANKING_SPREAD_MIN
    };
    (0..metrics)
        .filter(observed)
        .find(tells_apart)
        .or_else(|| (0..metrics).find(observed))
}

/// `writes 0.31 times the bytes per row and takes 0.52 times the CPU (95% interval 0.49 to 0.55)`.
fn phrases(other: &Against, rank: usize, spoken: &[Spoken], is_noisy: bool) -> Vec<Piece> {
    let named = spoken
        .iter()
        .zip(&other.ratios)
        .skip(rank)
        .filter_map(|(spoken, ratio)| Some((spoken, (*ratio)?)))
        .take(NAMED_MAX);
    let mut out = Vec::new();
    for ((metric, before, after), ratio) in named {
        let and = if out.is_empty() { "" } else { " and " };
        out.push(Piece::words(format!("{and}{before}")));
        let rests_on = RestsOn::Pairs(ratio.pairs);
        out.push(Piece::number(format::ratio(ratio.ratio), Some(rests_on)));
        let asides: Vec<String> = [
            (is_noisy && metric.is_time).then(|| "noisy".to_owned()),
            (metric.is_time && ratio.low != ratio.high)
                .then(|| format!("95% interval {}", format::interval(&ratio))),
        ]
        .into_iter()
        .flatten()
        .collect();
        let asides = match asides.is_empty() {
            true => String::new(),
            false => format!(" ({})", asides.join("; ")),
        };
        out.push(Piece::words(format!("{after}{asides}")));
    }
    out
}

/// The answer if nothing can be compared: the baseline's values.
fn alone(run: &Run, experiment: &Experiment, baseline: &str, is_noisy: bool) -> Vec<Piece> {
    let mut out = Vec::new();
    for (id, ..) in SPOKEN {
        let Some(metric) = metric_named(id) else {
            continue;
        };
        let Some(value) = run.median(experiment.baseline, metric) else {
            continue;
        };
        let lead = if out.is_empty() {
            format!("{baseline}: ")
        } else {
            ", ".to_owned()
        };
        out.push(Piece::words(lead));
        let rests_on = RestsOn::Trials(run.trials_of(experiment.baseline).len());
        let number = format::quantity(value, metric.unit);
        out.push(Piece::number(number, Some(rests_on)));
        let mark = noisy_mark(is_noisy, metric);
        out.push(Piece::words(format!(" {}{mark}", metric.title)));
    }
    match out.is_empty() {
        true => vec![Piece::words(
            "No answer yet: no trial of the baseline has finished.",
        )],
        false => {
            out.push(Piece::words("."));
            out
        }
    }
}
