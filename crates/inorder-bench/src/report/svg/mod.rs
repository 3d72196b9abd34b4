//! Plots as SVG, to stand inside an HTML page or in a file.
//!
//! Colours, widths and type sizes are the style sheet's (`page.css`): a drawing names classes only,
//! so that it follows the page from light to dark. Marks of one name are one path, with the column of the table behind
//! the plot that has their values: the page's script takes its tooltips from there. Legends are HTML beside the drawing,
//! where they wrap instead of covering lines.

mod axis;
mod bars;
mod canvas;
mod defs;
mod dots;
mod figure;
mod file;
mod lines;
mod ranking;
mod strips;

pub use canvas::Escaped;
pub use defs::all as defs;
pub use dots::interval;
pub use figure::Figure;
pub use ranking::{RankedBar, ranking};

use crate::report::plots::{Data, Plot};

/// Draws plots of lines side by side in one SVG file; `about` is what a screen reader reads out.
pub fn file(plots: &[&Plot], about: &str) -> String {
    let drawn: Vec<(&Plot, Figure)> = plots.iter().map(|plot| (*plot, figure(plot))).collect();
    file::render(&drawn, about)
}

/// Draws a plot.
pub fn figure(plot: &Plot) -> Figure {
    match &plot.data {
        Data::Lines(data) => lines::figure(data, &plot.title),
        Data::Bars(data) => bars::figure(data, &plot.title),
        Data::Dots(data) => dots::figure(data, &plot.title),
        Data::Strips(data) => strips::figure(data, &plot.title),
    }
}
