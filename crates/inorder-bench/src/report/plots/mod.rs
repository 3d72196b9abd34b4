//! The plots of an experiment as data: what the page draws, the tables behind it hold and JSON lists.
//!
//! A kind of plot is one function in `BUILDERS`; it returns nothing where there is nothing to show.

mod bars;
mod data;
mod facets;
mod fill;
mod latency;
mod layers;
mod lines;
mod source;
mod table;

pub use data::{
    Axis, Bar, Bars, Data, DotRow, DotSeries, Dots, Group, Lines, Panel, Plot, Point, Series, Strip,
};
pub use table::Table;

use crate::results::{Experiment, Run};
use source::Source;

/// Every kind of plot, in the order a report shows them.
const BUILDERS: &[fn(&Source) -> Vec<Plot>] = &[
    lines::bytes_by_rows,
    lines::saved_by_rows,
    lines::cpu_by_rows,
    lines::by_factor,
    bars::bytes_by_file,
    layers::plot,
    bars::cpu_by_phase,
    bars::size,
    bars::shards,
    fill::map,
    latency::plots,
];

/// The plots of an experiment.
pub fn of(run: &Run, experiment: &Experiment, is_noisy: bool) -> Vec<Plot> {
    let source = Source {
        run,
        experiment,
        cells: run
            .cells_of(&experiment.name)
            .into_iter()
            .filter(|cell| !cell.is_twin)
            .collect(),
    };
    let mut plots: Vec<Plot> = BUILDERS.iter().flat_map(|build| build(&source)).collect();
    for plot in &mut plots {
        plot.is_withheld &= is_noisy;
    }
    plots
}
