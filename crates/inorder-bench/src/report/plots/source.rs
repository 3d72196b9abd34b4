//! The input of plots.

use crate::{
    results::{Cell, Experiment, Run, Trial},
    statistics::median,
};

/// The input of a builder.
pub struct Source<'a> {
    /// The run.
    pub run: &'a Run,
    /// The experiment.
    pub experiment: &'a Experiment,
    /// The cells without the twin.
    pub cells: Vec<&'a Cell>,
}

impl Source<'_> {
    /// Median of a value over a cell's finished trials.
    pub fn median(&self, cell: &Cell, value: impl Fn(&Trial) -> Option<f64>) -> Option<f64> {
        median(self.run.trials_of(cell.id).into_iter().filter_map(value))
    }
}
