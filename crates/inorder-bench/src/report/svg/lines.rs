//! Lines with bands, in one or more panels.

use super::{
    axis::Ruler,
    canvas::{Canvas, marker, polyline},
    figure::{Figure, PANEL_WIDTH, WIDTH, look, swatch},
};
use crate::{
    format,
    report::plots::{Lines, Panel, Series},
};

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
            .map(|(name, text)| (legend(name), text.clone()))
            .collect(),
        panels: lines
            .panels
            .iter()
            .map(|panel| (panel.title.clone(), frame.panel(lines, panel, about)))
            .collect(),
    }
}

fn legend(name: usize) -> String {
    swatch(30.0, |canvas| {
        canvas.open(&look(name), &[]);
        canvas.line("line", (0.0, 7.0), (30.0, 7.0));
        canvas.path("mark", &marker(name, (15.0, 7.0), 4.0), "");
        canvas.shut();
    })
}

impl Frame {
    fn panel(&self, lines: &Lines, panel: &Panel, about: &str) -> String {
        let mut canvas = Canvas::new();
        let (right, bottom) = (self.width - RIGHT, self.height - BOTTOM);
        self.y.draw_up(&mut canvas, LEFT, right, TOP, bottom);
        self.x
            .draw_across(&mut canvas, LEFT, right - LEFT, TOP, bottom);
        for series in &panel.series {
            self.band(&mut canvas, series);
        }
        for series in &panel.series {
            canvas.open(&look(series.name), &[("name", &lines.names[series.name])]);
            let middle = series.points.iter().map(|p| self.at(p.x, p.y));
            canvas.path("line", &polyline(middle), "");
            self.points(&mut canvas, lines, series);
            canvas.shut();
        }
        let about = match panel.title.is_empty() {
            true => about.to_owned(),
            false => format!("{about} {}", panel.title),
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

    /// From the smallest to the largest of the repetitions.
    fn band(&self, canvas: &mut Canvas, series: &Series) {
        if series.points.iter().all(|p| p.low == p.high) {
            return;
        }
        let there = series.points.iter().map(|p| self.at(p.x, p.high));
        let back = series.points.iter().rev().map(|p| self.at(p.x, p.low));
        let class = format!("band {}", look(series.name));
        canvas.path(&class, &(polyline(there.chain(back)) + "Z"), "");
    }

    fn points(&self, canvas: &mut Canvas, lines: &Lines, series: &Series) {
        let name = &lines.names[series.name];
        let every = series.points.len().div_ceil(MARKERS_MAX);
        for (number, point) in series.points.iter().enumerate() {
            let at = self.at(point.x, point.y);
            let across = match lines.x.ticks.is_none() {
                true => format::quantity(point.x, lines.x.unit),
                false => format!(
                    "{} {}",
                    lines.x.title,
                    format::quantity(point.x, lines.x.unit)
                ),
            };
            let value = |value| format::quantity(value, lines.y.unit);
            let mut text = value(point.y);
            if value(point.low) != value(point.high) {
                text.push_str(&format!(" ({} to {})", value(point.low), value(point.high)));
            }
            canvas.open("point", &[]);
            canvas.title(&format!("{name}, {across}: {text}"));
            // The last point always has its marker: that is where lines are compared.
            let is_shown = (series.points.len() - 1 - number).is_multiple_of(every);
            let class = if is_shown { "mark" } else { "mark quiet" };
            canvas.path(class, &marker(series.name, at, 4.0), "");
            canvas.shut();
        }
    }
}
