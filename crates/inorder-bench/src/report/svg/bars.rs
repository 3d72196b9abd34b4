//! Horizontal stacked bars, so that the names of cells have the whole width.

use super::{
    axis::Ruler,
    canvas::{Anchor, Canvas},
    figure::{Figure, WIDTH, look, swatch},
};
use crate::{
    format,
    report::plots::{Bar, Bars},
};

/// Room for the labels of the bars in a group, where they have any.
const LABELS: f64 = 88.0;
/// Room for the number behind a bar.
pub(super) const RIGHT: f64 = 82.0;
/// Height of the name of a group.
pub(super) const NAME: f64 = 19.0;
pub(super) const BAR: f64 = 15.0;
const BAR_GAP: f64 = 3.0;
pub(super) const GROUP_GAP: f64 = 11.0;
/// Room below for ticks and title.
pub(super) const BOTTOM: f64 = 46.0;

/// Hatchings beside the plain one: a class `hatch1` and up fills with `#hatch1` and up.
const HATCHES: &[&str] = &[
    r#"<path d="M-1 1l2-2M0 8l8-8M7 9l2-2"/>"#,
    r#"<path d="M4 0v8"/>"#,
    r#"<path d="M-1 7l2 2M0 0l8 8M7-1l2 2"/>"#,
    r#"<path d="M0 4h8M4 0v8"/>"#,
];

/// The hatchings, once per page.
pub fn patterns() -> String {
    let mut out =
        String::from(r#"<svg class="patterns" width="0" height="0" aria-hidden="true"><defs>"#);
    for (at, hatch) in HATCHES.iter().enumerate() {
        let id = at + 1;
        out.push_str(&format!(
            r#"<pattern id="hatch{id}" width="8" height="8" patternUnits="userSpaceOnUse">{hatch}</pattern>"#
        ));
    }
    out + "</defs></svg>"
}

pub fn figure(bars: &Bars, about: &str) -> Figure {
    let has_labels = bars
        .groups
        .iter()
        .flat_map(|group| &group.bars)
        .any(|bar| !bar.label.is_empty());
    let left = if has_labels { LABELS } else { 0.0 };
    let totals = bars
        .groups
        .iter()
        .flat_map(|group| &group.bars)
        .map(|bar| bar.total.max(bar.values.iter().sum()));
    let ruler = Ruler::new(&bars.value, totals, 4);
    let width = WIDTH - left - RIGHT;
    let mut canvas = Canvas::new();
    let mut marks = Canvas::new();
    let mut y = 0.0;
    for group in &bars.groups {
        marks.text("name", (0.0, y + 14.0), Anchor::Start, &group.label);
        y += NAME;
        for bar in &group.bars {
            marks.text("part", (0.0, y + 12.0), Anchor::Start, &bar.label);
            let name = [group.label.as_str(), bar.label.as_str()];
            let name: Vec<&str> = name.into_iter().filter(|s| !s.is_empty()).collect();
            let scale = |value: f64| ruler.share(value) * width;
            segments(&mut marks, bars, bar, (left, y), &name.join(", "), scale);
            y += BAR + BAR_GAP;
        }
        y += GROUP_GAP - BAR_GAP;
    }
    ruler.draw_across(&mut canvas, left, width, NAME - 2.0, y);
    canvas.append(marks);
    Figure {
        legend: legend(&bars.segments),
        panels: vec![(
            String::new(),
            canvas.into_svg("bars", WIDTH, y + BOTTOM, about),
        )],
    }
}

fn legend(segments: &[String]) -> Vec<(String, String)> {
    let icon = |at: usize| {
        swatch(30.0, |canvas| {
            segment(canvas, at, (0.0, 0.0), (30.0, 14.0), "")
        })
    };
    segments
        .iter()
        .enumerate()
        .map(|(at, name)| (icon(at), name.clone()))
        .collect()
}

fn segments(
    canvas: &mut Canvas,
    bars: &Bars,
    bar: &Bar,
    (left, y): (f64, f64),
    name: &str,
    scale: impl Fn(f64) -> f64,
) {
    let sum: f64 = bar.values.iter().sum();
    let total = format::quantity(bar.total, bars.value.unit);
    let mut reached = 0.0;
    for (at, value) in bar.values.iter().enumerate() {
        let (from, to) = (scale(reached), scale(reached + value));
        reached += value;
        if to - from < 0.05 {
            continue;
        }
        let title = format!(
            "{name}\n{}: {} of {total} ({})",
            bars.segments[at],
            format::quantity(*value, bars.value.unit),
            format::percent(value / sum)
        );
        segment(canvas, at, (left + from, y), (to - from, BAR), &title);
    }
    let end = (left + scale(sum.max(bar.total)) + 6.0, y + 12.0);
    canvas.text("value", end, Anchor::Start, &total);
}

/// A piece of a bar: its colour, and a hatching over it.
fn segment(canvas: &mut Canvas, at: usize, corner: (f64, f64), size: (f64, f64), title: &str) {
    canvas.open(&format!("segment {}", look(at)), &[]);
    canvas.rect("fill", corner, size, title);
    let hatch = at % (HATCHES.len() + 1);
    if hatch > 0 {
        canvas.rect(&format!("hatch{hatch}"), corner, size, "");
    }
    canvas.shut();
}
