//! Dots side by side: latencies of cells, and the interval of a ratio.

use super::{
    axis::Ruler,
    bars::{BOTTOM, NAME},
    canvas::{Anchor, Canvas, marker, polyline},
    figure::{Figure, WIDTH, look, swatch},
};
use crate::{
    format,
    report::plots::{DotRow, Dots},
    statistics::Ratio,
};

/// Room at both sides for half a tick.
const SIDE: f64 = 24.0;
/// Height of one group's line.
const TRACK: f64 = 15.0;
const ROW_GAP: f64 = 9.0;
const RADIUS: f64 = 4.6;

pub fn figure(dots: &Dots, about: &str) -> Figure {
    let values = dots
        .rows
        .iter()
        .flat_map(|row| row.values.iter().flatten().copied());
    let ruler = Ruler::new(&dots.value, values, 5);
    let width = WIDTH - 2.0 * SIDE;
    let mut canvas = Canvas::new();
    let mut marks = Canvas::new();
    let mut y = 0.0;
    for row in &dots.rows {
        marks.text("name", (0.0, y + 14.0), Anchor::Start, &row.label);
        y += NAME;
        for group in groups(dots) {
            let at = |value: f64| (SIDE + ruler.share(value) * width, y + TRACK / 2.0);
            track(&mut marks, dots, row, group, at);
            y += TRACK;
        }
        y += ROW_GAP;
    }
    ruler.draw_across(&mut canvas, SIDE, width, NAME - 2.0, y);
    canvas.append(marks);
    Figure {
        legend: dots
            .series
            .iter()
            .map(|series| {
                let icon = swatch(16.0, |canvas| {
                    canvas.open(&look(series.group), &[]);
                    let class = if series.is_tail {
                        "mark hollow"
                    } else {
                        "mark"
                    };
                    canvas.path(class, &marker(series.group, (8.0, 7.0), RADIUS), "");
                    canvas.shut();
                });
                (icon, series.name.clone())
            })
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

/// One line from the first dot of a group to the last, and its dots.
fn track(
    canvas: &mut Canvas,
    dots: &Dots,
    row: &DotRow,
    group: usize,
    at: impl Fn(f64) -> (f64, f64),
) {
    let members: Vec<_> = dots
        .series
        .iter()
        .zip(&row.values)
        .filter(|(series, _)| series.group == group)
        .filter_map(|(series, value)| Some((series, (*value)?)))
        .collect();
    canvas.open(&look(group), &[]);
    if let [(_, first), .., (_, last)] = members.as_slice() {
        canvas.line("stem", at(*first), at(*last));
    }
    for (series, value) in &members {
        let value_text = format::quantity(*value, dots.value.unit);
        let title = format!("{}\n{}: {value_text}", row.label, series.name);
        let class = if series.is_tail {
            "mark hollow"
        } else {
            "mark"
        };
        canvas.path(class, &marker(group, at(*value), RADIUS), &title);
    }
    canvas.shut();
}

/// Ends of the axis of an interval; it begins at the inverse.
const ENDS: [f64; 9] = [1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0];

/// A ratio with its interval and the published ratio, on a short log axis around 1 that has room for them.
pub fn interval(ratio: &Ratio, published: Option<f64>) -> String {
    const WIDTH: f64 = 150.0;
    const HEIGHT: f64 = 30.0;
    const MARGIN: f64 = 20.0;
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
        MARGIN + (share + 1.0) / 2.0 * (WIDTH - 2.0 * MARGIN)
    };
    let middle = 9.0;
    let mut canvas = Canvas::new();
    canvas.line("grid", (at(1.0 / end), middle), (at(end), middle));
    canvas.line("one", (at(1.0), 2.0), (at(1.0), 16.0));
    for value in [1.0 / end, 1.0, end] {
        let text = format::short(value);
        canvas.text("tick", (at(value), HEIGHT - 3.0), Anchor::Middle, &text);
    }
    if let Some(published) = published {
        let (x, r) = (at(published), 6.0);
        let ring = [
            (x, middle - r),
            (x + r, middle),
            (x, middle + r),
            (x - r, middle),
            (x, middle - r),
        ];
        canvas.path("published", &polyline(ring), "");
    }
    canvas.line("whisker", (at(ratio.low), middle), (at(ratio.high), middle));
    canvas.path("ratio", &marker(0, (at(ratio.ratio), middle), 4.0), "");
    canvas.into_icon(WIDTH, HEIGHT)
}
