//! Dots side by side: latencies of cells, and the interval of a ratio.

use super::{
    axis::Ruler,
    bars::{BOTTOM, NAME},
    canvas::{Canvas, Number, level, polyline},
    figure::{Figure, WIDTH, dot_name, look},
};
use crate::{format, report::plots::Dots, statistics::Ratio};

/// Room at both sides for half a tick.
const SIDE: f64 = 24.0;
/// Height of one group's line.
const TRACK: f64 = 15.0;
const ROW_GAP: f64 = 9.0;

pub fn figure(dots: &Dots, about: &str) -> Figure {
    let values = dots
        .rows
        .iter()
        .flat_map(|row| row.values.iter().flatten().copied());
    let ruler = Ruler::new(&dots.value, values, 5);
    let width = WIDTH - 2.0 * SIDE;
    let groups = groups(dots);
    let mut canvas = Canvas::new();
    let mut names = Vec::new();
    let mut points: Vec<Vec<(f64, f64)>> = vec![Vec::new(); dots.series.len()];
    let mut stems = vec![String::new(); groups.len()];
    let mut y = 0.0;
    for row in &dots.rows {
        names.push(((0.0, y + 14.0), row.label.clone()));
        y += NAME;
        for (group, stem) in groups.iter().zip(&mut stems) {
            let mut across = Vec::new();
            let members = dots.series.iter().zip(&row.values).zip(&mut points);
            for ((series, value), points) in members {
                if let Some(value) = value.filter(|_| series.group == *group) {
                    let x = SIDE + ruler.share(value) * width;
                    points.push((x, y + TRACK / 2.0));
                    across.push(x);
                }
            }
            if let [first, .., last] = across.as_slice() {
                stem.push_str(&level(*first, *last, y + TRACK / 2.0));
            }
            y += TRACK;
        }
        y += ROW_GAP;
    }
    ruler.draw_across(&mut canvas, SIDE, width, NAME - 2.0, y);
    canvas.open_halves();
    for (group, stem) in groups.iter().zip(&stems) {
        canvas.path(&format!("stem {}", look(*group)), stem);
    }
    for (at, (series, points)) in dots.series.iter().zip(&points).enumerate() {
        let points = polyline(points.iter().copied());
        let class = if series.is_tail { "hollow " } else { "" };
        let class = format!("marked dots {class}{}", look(series.group));
        canvas.marks(&class, 1 + at, &points);
    }
    canvas.shut();
    canvas.texts("name", &names);
    let series = dots.series.iter();
    Figure {
        legend: series
            .map(|series| (dot_name(series.group, series.is_tail), series.name.clone()))
            .collect(),
        panels: vec![(
            String::new(),
            canvas.into_svg("dots", WIDTH, y + BOTTOM, about),
        )],
    }
}

/// The groups of the series, each once.
fn groups(dots: &Dots) -> Vec<usize> {
    let mut groups: Vec<usize> = dots.series.iter().map(|series| series.group).collect();
    groups.dedup();
    groups
}

/// Width of the drawing of an interval.
const GAUGE_WIDTH: f64 = 150.0;
/// Room at its sides for half a tick.
const MARGIN: f64 = 20.0;
/// Height of its axis.
const MIDDLE: f64 = 9.0;

/// What every gauge has: the axis with the place of 1, and the marks of both ratios.
pub(super) const GAUGE: &str = r#"<g id="gauge"><path class="grid" d="M20 9h110"/><path class="one" d="M75 2v14"/></g><path id="gauge-published" d="M0 3l6 6-6 6-6-6z"/><path id="gauge-ratio" d="M-4 9a4 4 0 1 0 8 0a4 4 0 1 0-8 0z"/>"#;

/// Ends of the axis of an interval; it begins at the inverse.
const ENDS: [f64; 9] = [1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0];

/// A ratio with its interval and the published ratio, on a short log axis around 1 that has room for them.
pub fn interval(ratio: &Ratio, published: Option<f64>) -> String {
    let drawn = [
        Some(ratio.ratio),
        Some(ratio.low),
        Some(ratio.high),
        published,
    ];
    let farthest = drawn
        .into_iter()
        .flatten()
        .map(|value| value.max(1e-9).ln().abs())
        .filter(|distance| distance.is_finite())
        .fold(0.0, f64::max);
    let end = ENDS.into_iter().find(|end| end.ln() >= farthest);
    let end = end.unwrap_or(ENDS[ENDS.len() - 1]);
    let at = |value: f64| {
        let share = (value.max(1e-9).ln() / end.ln()).clamp(-1.0, 1.0);
        MARGIN + (share + 1.0) / 2.0 * (GAUGE_WIDTH - 2.0 * MARGIN)
    };
    let mut canvas = Canvas::new();
    canvas.symbol("gauge", 0.0);
    for value in [1.0 / end, 1.0, end] {
        canvas.text("", (at(value), 0.0), &format::short(value));
    }
    if let Some(published) = published {
        canvas.symbol("gauge-published", at(published));
    }
    let (low, high) = (at(ratio.low), at(ratio.high));
    let (x, width) = (Number(low), Number(high - low));
    canvas.path("whisker", &format!("M{x} {MIDDLE}h{width}"));
    canvas.symbol("gauge-ratio", at(ratio.ratio));
    format!(
        r#"<svg class="gauge-of-ratio" aria-hidden="true">{}</svg>"#,
        canvas.into_text()
    )
}
