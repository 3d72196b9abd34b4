//! Dots side by side: latencies of cells, and the interval of a ratio.

use super::{
    axis::Ruler,
    bars::{BOTTOM, NAME},
    canvas::{Anchor, Canvas, marker},
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

/// A ratio and its interval on a short log axis around 1.
pub fn interval(ratio: &Ratio) -> String {
    const WIDTH: f64 = 120.0;
    const HEIGHT: f64 = 18.0;
    /// The axis ends here and at its inverse; what lies beyond is drawn at the end.
    const END: f64 = 20.0;
    let at = |value: f64| {
        let share = (value.max(1e-9).ln() / END.ln()).clamp(-1.0, 1.0);
        6.0 + (share + 1.0) / 2.0 * (WIDTH - 12.0)
    };
    let middle = HEIGHT / 2.0;
    let mut canvas = Canvas::new();
    canvas.line("grid", (0.0, middle), (WIDTH, middle));
    canvas.line("one", (at(1.0), 2.0), (at(1.0), HEIGHT - 2.0));
    canvas.line("whisker", (at(ratio.low), middle), (at(ratio.high), middle));
    canvas.path("ratio", &marker(0, (at(ratio.ratio), middle), 4.5), "");
    canvas.into_icon(WIDTH, HEIGHT)
}
