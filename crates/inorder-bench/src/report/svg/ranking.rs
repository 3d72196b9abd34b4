//! The picture of a ranking: a bar for each cell, with the interval of its ratio.

use super::{
    axis::Ruler,
    bars::{BAR, BOTTOM, GROUP_GAP, NAME, RIGHT, piece},
    canvas::{Canvas, Number},
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
    let (mut names, mut values) = (Vec::new(), Vec::new());
    let mut paths = [String::new(), String::new()];
    let mut errors = String::new();
    let mut y = 0.0;
    for bar in bars {
        names.push(((0.0, y + 14.0), bar.label.clone()));
        y += NAME;
        let middle = y + BAR / 2.0;
        let length = ruler.share(bar.value) * width;
        for (path, is_baseline) in paths.iter_mut().zip([false, true]) {
            let is_own = bar.is_baseline == is_baseline;
            path.push_str(&piece(0.0, if is_own { length } else { 0.0 }, middle));
        }
        if let Some((low, high)) = bar.interval {
            let [low, high] = [low, high].map(|value| ruler.share(value) * width);
            let (x, y, length) = (Number(low), Number(middle), Number(high - low));
            let (top, end) = (Number(middle - END), Number(2.0 * END));
            let high = Number(high);
            errors.push_str(&format!(
                "M{x} {y}h{length}M{x} {top}v{end}M{high} {top}v{end}"
            ));
        }
        let end = (ruler.share(ends(bar)) * width + 7.0, y + 12.0);
        values.push((end, format::quantity(bar.value, unit)));
        y += BAR + GROUP_GAP;
    }
    ruler.draw_across(&mut canvas, 0.0, width, NAME - 2.0, y);
    canvas.open_halves();
    for (path, at) in paths.iter().zip([LOOKS.0, LOOKS.1]) {
        canvas.marks(&format!("bar {}", look(at)), 1, path);
    }
    canvas.shut();
    canvas.path("error", &errors);
    canvas.texts("name", &names);
    canvas.texts("value", &values);
    canvas.into_svg("ranking", WIDTH, y + BOTTOM, about)
}
