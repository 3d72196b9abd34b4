//! The picture of a ranking: a bar for each cell, with the interval of its ratio.

use super::{
    axis::Ruler,
    bars::{BAR, BOTTOM, GROUP_GAP, NAME, RIGHT},
    canvas::{Anchor, Canvas},
    figure::{WIDTH, look},
};
use crate::{format, report::plots::Axis};

/// Half the height of the ends of an interval.
const END: f64 = 4.0;
/// The looks of a bar, and of the one that the others are compared with.
const LOOKS: (usize, usize) = (0, 5);

/// A bar.
#[derive(Clone, Debug)]
pub struct RankedBar {
    /// The cell's name.
    pub label: String,
    /// The ratio with its interval in words; empty for the cell that others are compared with.
    pub ratio: String,
    /// The median.
    pub value: f64,
    /// The ends of the interval, where there is one.
    pub interval: Option<(f64, f64)>,
    /// Whether the others are compared with it.
    pub is_baseline: bool,
}

/// Draws bars in the order they are in.
pub fn ranking(bars: &[RankedBar], title: &str, unit: &'static str, about: &str) -> String {
    let axis = Axis {
        title: title.to_owned(),
        unit,
        is_log: false,
        ticks: None,
    };
    let ends = |bar: &RankedBar| bar.value.max(bar.interval.map_or(0.0, |(_, high)| high));
    let ruler = Ruler::new(&axis, bars.iter().map(ends), 4);
    let width = WIDTH - RIGHT;
    let mut canvas = Canvas::new();
    let mut marks = Canvas::new();
    let mut y = 0.0;
    for bar in bars {
        marks.text("name", (0.0, y + 14.0), Anchor::Start, &bar.label);
        y += NAME;
        let value = format::quantity(bar.value, unit);
        let look = look(if bar.is_baseline { LOOKS.1 } else { LOOKS.0 });
        marks.open(&format!("segment {look}"), &[]);
        let size = (ruler.share(bar.value) * width, BAR);
        let said = format!("{}\n{title}: {value} {}", bar.label, bar.ratio);
        marks.rect("fill", (0.0, y), size, said.trim_end());
        marks.shut();
        if let Some((low, high)) = bar.interval {
            let (low, high, middle) = (
                ruler.share(low) * width,
                ruler.share(high) * width,
                y + BAR / 2.0,
            );
            marks.line("error", (low, middle), (high, middle));
            for end in [low, high] {
                marks.line("error", (end, middle - END), (end, middle + END));
            }
        }
        let end = (ruler.share(ends(bar)) * width + 7.0, y + 12.0);
        marks.text("value", end, Anchor::Start, &value);
        y += BAR + GROUP_GAP;
    }
    ruler.draw_across(&mut canvas, 0.0, width, NAME - 2.0, y);
    canvas.append(marks);
    canvas.into_svg("ranking", WIDTH, y + BOTTOM, about)
}
