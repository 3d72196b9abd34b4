//! Horizontal stacked bars, so that the names of cells have the whole width. A bar is a broad line: its piece of each
//! colour is one piece of that colour's path.

use super::{
    axis::Ruler,
    canvas::{Canvas, level},
    figure::{Figure, HATCHES, WIDTH, look},
};
use crate::{format, report::plots::Bars};

/// Room for the labels of the bars in a group, where they have any.
const LABELS: f64 = 88.0;
/// Room for the number behind a bar.
pub(super) const RIGHT: f64 = 82.0;
/// Height of the name of a group.
pub(super) const NAME: f64 = 19.0;
pub(super) const BAR: f64 = 15.0;
const BAR_GAP: f64 = 3.0;
/// Between the pieces of a bar.
const PIECE_GAP: f64 = 1.0;
pub(super) const GROUP_GAP: f64 = 11.0;
/// Room below for ticks and title.
pub(super) const BOTTOM: f64 = 46.0;

pub fn figure(bars: &Bars, about: &str) -> Figure {
    let words = bars.words();
    let left = if words > 1 { LABELS } else { 0.0 };
    let totals = bars
        .groups
        .iter()
        .flat_map(|group| &group.bars)
        .map(|bar| bar.total.max(bar.values.iter().sum()));
    let ruler = Ruler::new(&bars.value, totals, 4);
    let width = WIDTH - left - RIGHT;
    let mut canvas = Canvas::new();
    let (mut names, mut parts, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut paths = vec![String::new(); bars.segments.len()];
    let mut y = 0.0;
    for group in &bars.groups {
        names.push(((0.0, y + 14.0), group.label.clone()));
        y += NAME;
        for bar in &group.bars {
            if !bar.label.is_empty() {
                parts.push(((0.0, y + 12.0), bar.label.clone()));
            }
            let mut reached = 0.0;
            for (path, value) in paths.iter_mut().zip(&bar.values) {
                let at = |value: f64| left + ruler.share(value) * width;
                path.push_str(&piece(at(reached), at(reached + value), y + BAR / 2.0));
                reached += value;
            }
            let total = format::quantity(bar.total, bars.value.unit);
            let end = left + ruler.share(reached.max(bar.total)) * width + 6.0;
            values.push(((end, y + 12.0), total));
            y += BAR + BAR_GAP;
        }
        y += GROUP_GAP - BAR_GAP;
    }
    ruler.draw_across(&mut canvas, left, width, NAME - 2.0, y);
    canvas.open_halves();
    for (at, data) in paths.iter().enumerate() {
        canvas.marks(&format!("bar {}", look(at)), words + at, data);
        let hatch = at % (HATCHES.len() + 1);
        if hatch > 0 {
            canvas.path(&format!("bar hatch{hatch}"), data);
        }
    }
    canvas.shut();
    canvas.texts("name", &names);
    canvas.texts("part", &parts);
    canvas.texts("value", &values);
    let legend = bars.segments.iter().enumerate();
    Figure {
        legend: legend
            .map(|(at, name)| (format!("bar-{}", look(at)), name.clone()))
            .collect(),
        panels: vec![(
            String::new(),
            canvas.into_svg("bars", WIDTH, y + BOTTOM, about),
        )],
    }
}

/// A piece of a bar, which ends before the next one begins. One that is too short to be seen has no length.
pub(super) fn piece(from: f64, to: f64, y: f64) -> String {
    let to = match to - from {
        length if length < 2.0 * PIECE_GAP => to,
        _ => to - PIECE_GAP,
    };
    level(from, to, y)
}
