//! Lines: against the rows in the table, and against a numeric factor.

use super::{
    data::{Axis, Data, Lines, Panel, Plot, Point, Series},
    facets::{Facets, facets},
    source::Source,
};
use crate::{
    claims::published,
    experiment::level,
    metrics::{Metric, metric_named},
    results::Cell,
    statistics::median,
};

/// Metrics drawn against a numeric factor, where they were observed. The third speaks for
/// experiments that only read.
const BY_FACTOR: &[&str] = &[
    "engine_bytes_per_row",
    "cpu_us_per_row",
    "query_warm_p50_us",
];

/// Levels a factor needs to be drawn as an axis.
const LEVELS_MIN: usize = 3;

const GROWTH_NOTE: &str = "What each further row cost, from one checkpoint of the load to the next. \
     The line is the median of the repetitions, the band reaches from the smallest to the largest.";

pub(super) fn bytes_by_rows(source: &Source) -> Vec<Plot> {
    let title = "Bytes written per row as the table grows";
    let axis = ("bytes written per row", "bytes", false);
    growth(source, "bytes-by-rows", title, axis, |cell| {
        points(source, cell, "engine_written_bytes", 1.0)
    })
}

pub(super) fn cpu_by_rows(source: &Source) -> Vec<Plot> {
    let title = "CPU time per row as the table grows";
    let axis = ("CPU time per row", "us", true);
    growth(source, "cpu-by-rows", title, axis, |cell| {
        points(source, cell, "cpu_s", 1e6)
    })
}

/// The bytes that sequential ids saved, with the curves of the published rig.
pub(super) fn saved_by_rows(source: &Source) -> Vec<Plot> {
    if source.experiment.name != published::EXPERIMENT {
        return Vec::new();
    }
    let replays = published::replays(source.run);
    let series = |name, points: Vec<(u64, f64)>| Series {
        name,
        points: points.into_iter().map(exact).collect(),
    };
    let panels = replays.iter().map(|replay| Panel {
        title: format!("{}, {}", replay.curve.engine, replay.curve.layout),
        series: vec![
            series(
                0,
                replay
                    .points
                    .iter()
                    .map(|(x, here, _)| (*x, *here))
                    .collect(),
            ),
            series(
                1,
                replay
                    .points
                    .iter()
                    .map(|(x, _, there)| (*x, *there))
                    .collect(),
            ),
        ],
    });
    let panels: Vec<Panel> = panels.collect();
    let across = panels.iter().flat_map(|panel| &panel.series);
    let across = across.flat_map(|series| series.points.iter().map(|point| point.x));
    let lines = Lines {
        x: Axis::new("table size", "rows", across),
        y: Axis::linear("bytes saved by sequential ids", "share"),
        names: vec!["this run".to_owned(), "the published rig".to_owned()],
        panels,
    };
    let plot = plot(Plot {
        id: "saved-by-rows".to_owned(),
        title: "Bytes saved by sequential ids, beside the published rig".to_owned(),
        note: format!(
            "Of all bytes written until then. Data of the published rig: {}, {}.",
            published::POST.author,
            published::DATA_URL
        ),
        is_withheld: false,
        metric: None,
        data: Data::Lines(lines),
    });
    plot.into_iter().collect()
}

/// A point without a band.
fn exact((rows, percent): (u64, f64)) -> Point {
    let y = percent / 100.0;
    Point {
        x: rows as f64,
        y,
        low: y,
        high: y,
    }
}

/// A plot for each numeric factor with enough levels and each metric that was observed.
pub(super) fn by_factor(source: &Source) -> Vec<Plot> {
    let experiment = source.experiment;
    let mut plots = Vec::new();
    for (factor, levels) in experiment.varied.iter().zip(&experiment.levels) {
        let mut numbers: Vec<f64> = levels.iter().filter_map(|l| l.parse().ok()).collect();
        if numbers.len() < LEVELS_MIN || numbers.len() < levels.len() {
            continue;
        }
        let (title, unit, worth) = level::unit_of(factor);
        numbers.iter_mut().for_each(|number| *number *= worth);
        let x = Axis {
            ticks: Some(numbers.clone()),
            is_log: is_log(&numbers),
            ..Axis::linear(title, unit)
        };
        for metric in BY_FACTOR.iter().filter_map(|id| metric_named(id)) {
            plots.extend(against(source, factor, worth, metric, &x));
        }
    }
    plots
}

/// Levels such as 2, 8, 64 are steps of a ratio; 1, 2, 3 are not.
fn is_log(levels: &[f64]) -> bool {
    let low = levels.iter().copied().fold(f64::INFINITY, f64::min);
    let high = levels.iter().copied().fold(0.0, f64::max);
    low > 0.0 && high >= low * 8.0
}

fn against(
    source: &Source,
    factor: &str,
    worth: f64,
    metric: &'static Metric,
    x: &Axis,
) -> Option<Plot> {
    let experiment = source.experiment;
    let others: Vec<&str> = experiment
        .varied
        .iter()
        .map(String::as_str)
        .filter(|name| *name != factor)
        .collect();
    let facets = facets(experiment, &source.cells, &others);
    let panels = panels(&facets, |cell| {
        let at = cell.levels.get(factor)?.parse::<f64>().ok()? * worth;
        let trials = source.run.trials_of(cell.id);
        let values: Vec<f64> = trials.into_iter().filter_map(|t| (metric.of)(t)).collect();
        Some(vec![Point {
            x: at,
            y: median(values.iter().copied())?,
            low: values.iter().copied().fold(f64::INFINITY, f64::min),
            high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }])
    });
    let y = Axis::new(metric.title, metric.unit, heights(&panels));
    plot(Plot {
        id: format!("{}-by-{}", metric.id, factor).replace('_', "-"),
        title: format!("{} by {}", capitalized(metric.title), x.title),
        note: "The line is the median of the repetitions, the band reaches from the smallest to \
               the largest."
            .to_owned(),
        is_withheld: metric.is_time,
        metric: Some(metric.id),
        data: Data::Lines(Lines {
            x: x.clone(),
            y,
            names: named(facets.names, metric.title),
            panels,
        }),
    })
}

/// A plot against the rows in the table; `axis` is its title, its unit and whether it is a time.
fn growth(
    source: &Source,
    id: &str,
    title: &str,
    axis: (&str, &'static str, bool),
    points: impl Fn(&Cell) -> Vec<Point>,
) -> Vec<Plot> {
    let experiment = source.experiment;
    let factors: Vec<&str> = experiment.varied.iter().map(String::as_str).collect();
    let facets = facets(experiment, &source.cells, &factors);
    let panels = panels(&facets, |cell| Some(points(cell)));
    let across = panels
        .iter()
        .flat_map(|panel| &panel.series)
        .flat_map(|series| series.points.iter().map(|point| point.x));
    let lines = Lines {
        x: Axis::new("table size", "rows", across),
        y: Axis::new(axis.0, axis.1, heights(&panels)),
        names: named(facets.names, axis.0),
        panels,
    };
    let plot = plot(Plot {
        id: id.to_owned(),
        title: title.to_owned(),
        note: GROWTH_NOTE.to_owned(),
        is_withheld: axis.2,
        metric: None,
        data: Data::Lines(lines),
    });
    plot.into_iter().collect()
}

fn points(source: &Source, cell: &Cell, probe: &str, worth: f64) -> Vec<Point> {
    source
        .run
        .marginal_curve(cell.id, probe, "")
        .into_iter()
        .map(|point| Point {
            x: point.rows as f64,
            y: point.median * worth,
            low: point.low * worth,
            high: point.high * worth,
        })
        .collect()
}

/// Names of lines; an only line that nothing sets apart is called what it shows.
fn named(mut names: Vec<String>, title: &str) -> Vec<String> {
    if let [only] = names.as_mut_slice()
        && only.is_empty()
    {
        title.clone_into(only);
    }
    names
}

/// Gathers the points of cells that share a line; empty lines and panels are left out.
fn panels(facets: &Facets, points: impl Fn(&Cell) -> Option<Vec<Point>>) -> Vec<Panel> {
    let mut panels: Vec<Panel> = facets
        .panels
        .iter()
        .map(|title| Panel {
            title: title.clone(),
            series: Vec::new(),
        })
        .collect();
    for (panel, name, cell) in &facets.places {
        let new = points(cell).unwrap_or_default();
        if new.is_empty() {
            continue;
        }
        let series = &mut panels[*panel].series;
        match series.iter_mut().find(|series| series.name == *name) {
            Some(series) => series.points.extend(new),
            None => series.push(Series {
                name: *name,
                points: new,
            }),
        }
    }
    for series in panels.iter_mut().flat_map(|panel| &mut panel.series) {
        series.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        // The table behind the plot has one cell for each place.
        series.points.dedup_by(|next, kept| next.x == kept.x);
    }
    panels.retain(|panel| !panel.series.is_empty());
    panels
}

/// Everything the upright axis has to hold.
fn heights(panels: &[Panel]) -> impl Iterator<Item = f64> {
    panels
        .iter()
        .flat_map(|panel| &panel.series)
        .flat_map(|series| series.points.iter().flat_map(|p| [p.low, p.high]))
}

/// The plot, if any of its lines is more than a point.
fn plot(plot: Plot) -> Option<Plot> {
    let Data::Lines(lines) = &plot.data else {
        return None;
    };
    let is_line = |series: &Series| series.points.len() > 1;
    let mut series = lines.panels.iter().flat_map(|panel| &panel.series);
    series.any(is_line).then_some(plot)
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().collect::<String>() + chars.as_str(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_of_levels_ask_for_a_log_axis() {
        assert!(is_log(&[2048.0, 65_536.0]));
        assert!(!is_log(&[1.0, 2.0, 4.0]));
        assert!(!is_log(&[0.0, 10.0, 1000.0]));
    }
}
