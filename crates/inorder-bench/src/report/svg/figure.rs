//! Common parts of all drawings.

use super::canvas::{Canvas, LOOKS};

/// A drawn plot.
pub struct Figure {
    /// Entries of the legend: a small drawing and its name.
    pub legend: Vec<(String, String)>,
    /// The drawings with their titles; the title of an only one is empty.
    pub panels: Vec<(String, String)>,
}

/// Width of a drawing in its own units. On a wide page a unit is about a pixel; on a phone the style
/// sheet sets larger type, for which the margins leave room.
pub const WIDTH: f64 = 480.0;

/// Width of a small multiple.
pub const PANEL_WIDTH: f64 = 330.0;

/// The class that gives a name its colour.
pub fn look(index: usize) -> String {
    format!("s{}", index % LOOKS)
}

/// A small drawing for a legend.
pub fn swatch(width: f64, draw: impl FnOnce(&mut Canvas)) -> String {
    let mut canvas = Canvas::new();
    draw(&mut canvas);
    canvas.into_icon(width, 14.0)
}
