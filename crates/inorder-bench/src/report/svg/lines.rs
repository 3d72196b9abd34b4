//! Lines with bands, in one or more panels.

use super::{
    axis::Ruler,
    canvas::{Canvas, polyline},
    figure::{Figure, PANEL_WIDTH, WIDTH, look},
};
use crate::report::plots::{Lines, Panel, Point, Series};

/// Height of an only panel.
pub(super) const HEIGHT: f64 = 320.0;

/// Room left of the plot for the ticks.
const LEFT: f64 = 54.0;
/// Room right of it for half a tick.
const RIGHT: f64 = 22.0;
/// Room above it for the upright axis' title.
const TOP: f64 = 32.0;
/// Room below it for ticks and title.
const BOTTOM: f64 = 46.0;

/// Width of a line in the style sheet.
const LINE_WIDTH: f64 = 2.0;

/// A line with more points shows a marker at only some of them.
const MARKERS_MAX: usize = 14;

/// The axes of all panels.
struct Frame {
    x: Ruler,
    y: Ruler,
    width: f64,
    height: f64,
}

pub fn figure(lines: &Lines, about: &str) -> Figure {
    let is_split = lines.panels.len() > 1;
    let (width, height) = match is_split {
        true => (PANEL_WIDTH, 250.0),
        false => (WIDTH, HEIGHT),
    };
    let points = || {
        lines
            .panels
            .iter()
            .flat_map(|panel| &panel.series)
            .flat_map(|series| &series.points)
    };
    let ticks = if is_split { 4 } else { 5 };
    let frame = Frame {
        x: Ruler::new(&lines.x, points().map(|point| point.x), ticks),
        y: Ruler::new(&lines.y, points().flat_map(|p| [p.low, p.high]), 5),
        width,
        height,
    };
    Figure {
        legend: lines
            .names
            .iter()
            .enumerate()
            .map(|(name, text)| (format!("line-{}", look(name)), text.clone()))
            .collect(),
        panels: lines
            .panels
            .iter()
            .map(|panel| (panel.title.clone(), frame.panel(lines, panel, about)))
            .collect(),
    }
}

impl Frame {
    fn panel(&self, lines: &Lines, panel: &Panel, about: &str) -> String {
        let mut canvas = Canvas::new();
        let (right, bottom) = (self.width - RIGHT, self.height - BOTTOM);
        self.y.draw_up(&mut canvas, LEFT, right, TOP, bottom);
        self.x
            .draw_across(&mut canvas, LEFT, right - LEFT, TOP, bottom);
        canvas.open_halves();
        for series in &panel.series {
            self.band(&mut canvas, series);
        }
        let words = lines.words();
        for series in &panel.series {
            self.line(&mut canvas, series, words + series.name);
        }
        canvas.shut();
        let about = match panel.title.is_empty() {
            true => about.to_owned(),
            false => format!("{about}: {}", panel.title),
        };
        canvas.into_svg("lines", self.width, self.height, &about)
    }

    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let (across, up) = (self.width - LEFT - RIGHT, self.height - TOP - BOTTOM);
        (
            LEFT + self.x.share(x) * across,
            TOP + (1.0 - self.y.share(y)) * up,
        )
    }

    /// From the smallest to the largest of the repetitions, where that is broader than the line.
    fn band(&self, canvas: &mut Canvas, series: &Series) {
        let height = |p: &Point| self.at(p.x, p.low).1 - self.at(p.x, p.high).1;
        if series.points.iter().all(|point| height(point) < LINE_WIDTH) {
            return;
        }
        let there = series.points.iter().map(|p| self.at(p.x, p.high));
        let back = series.points.iter().rev().map(|p| self.at(p.x, p.low));
        let class = format!("band {}", look(series.name));
        canvas.path(&class, &(polyline(there.chain(back)) + "Z"));
    }

    /// The medians, with markers; `column` has them in the table behind the plot.
    fn line(&self, canvas: &mut Canvas, series: &Series, column: usize) {
        let at = |number: usize| self.at(series.points[number].x, series.points[number].y);
        let (count, look) = (series.points.len(), look(series.name));
        let every = count.div_ceil(MARKERS_MAX);
        let has_all = if every > 1 { "" } else { "marked " };
        let line = polyline((0..count).map(at));
        canvas.marks(&format!("line {has_all}{look}"), column, &line);
        if every > 1 {
            // The last point always has its marker: that is where lines are compared.
            let shown = (0..count).filter(|number| (count - 1 - number).is_multiple_of(every));
            canvas.path(&format!("marked {look}"), &polyline(shown.map(at)));
        }
    }
}
