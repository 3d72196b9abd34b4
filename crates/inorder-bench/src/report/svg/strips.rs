//! Leaf pages in key order: one square per page, the fuller the stronger its colour. The page's script draws the squares.

use super::{
    canvas::Canvas,
    figure::{Figure, WIDTH},
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
/// Height of the scale of colours.
const SCALE: f64 = 46.0;

pub fn figure(strips: &[Strip], about: &str) -> Figure {
    let mut canvas = Canvas::new();
    canvas.symbol("fills", 0.0);
    let mut y = SCALE;
    for strip in strips {
        y += draw(&mut canvas, strip, y) + GAP;
    }
    canvas.text(
        "axis-title end",
        (WIDTH, y + 8.0),
        "leaf pages in key order, fill (%)",
    );
    Figure {
        legend: Vec::new(),
        panels: vec![(
            String::new(),
            canvas.into_svg("strips", WIDTH, y + 16.0, about),
        )],
    }
}

/// The scale of colours, which stands over the strips.
pub(super) fn symbols() -> String {
    let step = WIDTH / CLASSES as f64;
    let mut canvas = Canvas::new();
    for class in 0..CLASSES {
        let x = class as f64 * step;
        canvas.rect(&format!("square h{class}"), (x, 10.0), (step - 1.0, 10.0));
        canvas.text("", (x, 34.0), &format!("{}%", class * 100 / CLASSES));
    }
    format!(r#"<g id="fills" class="tick">{}</g>"#, canvas.into_text())
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
    canvas.text("name", (0.0, top + 14.0), &strip.label);
    let value = format!(
        "{} leaves{share}, {} full",
        format::integer(leaves as u64),
        format::percent(strip.mean())
    );
    let fits = strip.label.chars().count() + value.chars().count() < CHARACTERS;
    let head = if fits { HEAD } else { 2.0 * HEAD };
    canvas.text("value end", (WIDTH, top + head - 6.0), &value);
    let size = WIDTH / COLUMNS as f64;
    let classes: Vec<usize> = squares.iter().map(|fill| of(*fill)).collect();
    let corner = (0.0, top + head + size / 2.0);
    canvas.open_squares(corner, size, &letters(&classes));
    canvas.path(&format!("h{}", most(&classes)), &plain(classes.len()));
    canvas.shut();
    head + squares.len().div_ceil(COLUMNS) as f64 * size
}

/// Classes as the page's script reads them, row by row: a letter and how often it follows, where that is more than once.
/// As paths they would be most of a page.
fn letters(classes: &[usize]) -> String {
    let run = |run: &[usize]| {
        let letter = (b'a' + run[0] as u8) as char;
        match run.len() {
            1 => letter.to_string(),
            count => format!("{letter}{count}"),
        }
    };
    let row = |row: &[usize]| -> String { row.chunk_by(|a, b| a == b).map(run).collect() };
    let rows: Vec<String> = classes.chunks(COLUMNS).map(row).collect();
    rows.join(" ")
}

/// The class of most squares. Without the script a strip has its colour.
fn most(classes: &[usize]) -> usize {
    let count = |class: usize| classes.iter().filter(|of| **of == class).count();
    (0..CLASSES).max_by_key(|class| count(*class)).unwrap_or(0)
}

/// Squares of one class, as a path whose unit is a square.
fn plain(squares: usize) -> String {
    let row = |y: usize| format!("M0 {y}h{}", COLUMNS.min(squares - y * COLUMNS));
    (0..squares.div_ceil(COLUMNS)).map(row).collect()
}

/// The class of a fill.
fn of(fill: f64) -> usize {
    ((fill * CLASSES as f64).floor().max(0.0) as usize).min(CLASSES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strip_is_short() {
        let mut classes = vec![9; COLUMNS];
        classes.extend([3, 9, 9, 0]);
        assert_eq!(letters(&classes), "j80 dj2a");
        assert_eq!(most(&classes), 9);
        assert_eq!(plain(classes.len()), "M0 0h80M0 1h4");
    }
}
