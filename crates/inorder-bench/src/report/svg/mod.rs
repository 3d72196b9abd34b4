//! Plots as SVG, to stand inside an HTML page or in a file.
//!
//! Colours, widths and type sizes are the style sheet's (`page.css`): a drawing names classes only,
//! so that it follows the page from light to dark. Everything that has a value carries a `<title>`;
//! the page's script turns those into its own tooltips. Legends are HTML beside the drawing, where
//! they wrap instead of covering lines.

mod axis;
mod bars;
mod canvas;
mod dots;
mod figure;
mod file;
mod lines;
mod ranking;
mod strips;

pub use bars::patterns;
pub use canvas::Escaped;
pub use dots::interval;
pub use figure::Figure;
pub use ranking::{RankedBar, ranking};

use crate::report::plots::{Data, Plot};

/// Draws plots side by side in one SVG file; `about` is what a screen reader reads out.
pub fn file(plots: &[&Plot], about: &str) -> String {
    let drawn: Vec<(&Plot, Figure)> = plots.iter().map(|plot| (*plot, figure(plot))).collect();
    file::render(&drawn, about)
}

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
