//! Leaf pages in key order: one square per page, the fuller the stronger its colour.

use super::{
    canvas::{Anchor, Canvas, Number},
    figure::{Figure, WIDTH, swatch},
};
use crate::{format, report::plots::Strip};

/// Squares side by side.
const COLUMNS: usize = 80;
/// Rows of squares at most; beyond that neighbours share a square.
const ROWS_MAX: usize = 10;
/// Colours from empty to full: classes `h0` and up.
const CLASSES: usize = 10;
/// Height of a line over a strip.
const HEAD: f64 = 20.0;
/// Characters that fit on it.
const CHARACTERS: usize = 54;
const GAP: f64 = 10.0;
/// Between squares: the gap of the dashes of `.squares`.
const GAP_OF_SQUARES: f64 = 0.5;

pub fn figure(strips: &[Strip], about: &str) -> Figure {
    let mut canvas = Canvas::new();
    let mut y = 0.0;
    for strip in strips {
        y += draw(&mut canvas, strip, y) + GAP;
    }
    canvas.text(
        "axis-title",
        (WIDTH, y + 8.0),
        Anchor::End,
        "leaf pages in key order, fill (%)",
    );
    let legend = (0..CLASSES).map(|class| {
        let icon = swatch(30.0, |canvas| {
            canvas.rect(&format!("h{class} square"), (0.0, 0.0), (30.0, 14.0), "");
        });
        (icon, format!("{}%", class * 100 / CLASSES))
    });
    Figure {
        legend: legend.collect(),
        panels: vec![(
            String::new(),
            canvas.into_svg("strips", WIDTH, y + 16.0, about),
        )],
    }
}

/// Draws one strip and returns its height.
fn draw(canvas: &mut Canvas, strip: &Strip, top: f64) -> f64 {
    let leaves = strip.fills.len();
    let together = leaves.div_ceil(COLUMNS * ROWS_MAX).max(1);
    let squares: Vec<f64> = strip
        .fills
        .chunks(together)
        .map(|fills| fills.iter().sum::<f64>() / fills.len() as f64)
        .collect();
    let share = match together {
        1 => String::new(),
        n => format!(", {n} a square"),
    };
    canvas.text("name", (0.0, top + 14.0), Anchor::Start, &strip.label);
    let value = format!(
        "{} leaves{share}, {} full",
        format::integer(leaves as u64),
        format::percent(strip.mean())
    );
    let fits = strip.label.chars().count() + value.chars().count() < CHARACTERS;
    let head = if fits { HEAD } else { 2.0 * HEAD };
    canvas.text("value", (WIDTH, top + head - 6.0), Anchor::End, &value);
    let size = WIDTH / COLUMNS as f64;
    // One path a class, and one stroke, dashed into squares, for neighbours of a class: a page stays small.
    let mut paths = vec![(String::new(), 0); CLASSES];
    for (line, row) in squares.chunks(COLUMNS).enumerate() {
        let y = top + head + (line as f64 + 0.5) * size;
        let mut at = 0;
        for run in row.chunk_by(|a, b| of(*a) == of(*b)) {
            let (x, width) = (at as f64 * size, run.len() as f64 * size - GAP_OF_SQUARES);
            let (data, count) = &mut paths[of(run[0])];
            data.push_str(&format!("M{} {}h{}", Number(x), Number(y), Number(width)));
            *count += run.len();
            at += run.len();
        }
    }
    for (class, (data, count)) in paths.iter().enumerate().filter(|(_, path)| path.1 > 0) {
        let title = format!(
            "{}\n{} of {} squares are {} full",
            strip.label,
            format::integer(*count as u64),
            format::integer(squares.len() as u64),
            percent_of(class)
        );
        canvas.path(&format!("h{class} squares"), data, &title);
    }
    head + squares.len().div_ceil(COLUMNS) as f64 * size
}

/// The class of a fill.
fn of(fill: f64) -> usize {
    ((fill * CLASSES as f64).floor().max(0.0) as usize).min(CLASSES - 1)
}

/// Formats the fills of a class.
fn percent_of(class: usize) -> String {
    let step = 100 / CLASSES;
    format!("{}\u{2013}{}%", class * step, (class + 1) * step)
}
