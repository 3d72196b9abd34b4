//! Plots as SVG, to stand inside an HTML page.
//!
//! Colours, widths and type sizes are the style sheet's (`page.css`): a drawing names classes only,
//! so that it follows the page from light to dark. Everything that has a value carries a `<title>`;
//! the page's script turns those into its own tooltips. Legends are HTML beside the drawing, where
//! they wrap instead of covering lines.

mod axis;
mod bars;
mod canvas;
mod dots;
mod lines;
mod strips;

pub use bars::patterns;
pub use canvas::Escaped;
pub use dots::interval;

use super::plots::{Data, Plot};
use canvas::Canvas;

/// A drawn plot.
pub struct Figure {
    /// Entries of the legend: a small drawing and its name.
    pub legend: Vec<(String, String)>,
    /// The drawings with their titles; the title of an only one is empty.
    pub panels: Vec<(String, String)>,
}

/// Width of a drawing in its own units. On a wide page a unit is about a pixel; on a phone the style
/// sheet sets larger type, for which the margins leave room.
const WIDTH: f64 = 480.0;

/// Width of a small multiple.
const PANEL_WIDTH: f64 = 330.0;

/// Colours, dashes, markers and hatchings there are; names beyond them start again.
const LOOKS: usize = 8;

/// Draws a plot.
pub fn figure(plot: &Plot) -> Figure {
    let about = format!("{}: {}", plot.title, plot.note);
    match &plot.data {
        Data::Lines(data) => lines::figure(data, &about),
        Data::Bars(data) => bars::figure(data, &about),
        Data::Dots(data) => dots::figure(data, &about),
        Data::Strips(data) => strips::figure(data, &about),
    }
}

/// The class that gives a name its colour.
fn look(index: usize) -> String {
    format!("s{}", index % LOOKS)
}

/// A small drawing for a legend.
fn swatch(width: f64, draw: impl FnOnce(&mut Canvas)) -> String {
    let mut canvas = Canvas::new();
    draw(&mut canvas);
    canvas.into_icon(width, 14.0)
}
