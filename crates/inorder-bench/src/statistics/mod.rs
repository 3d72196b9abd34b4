//! Statistics of plain numbers: medians, ratios with their intervals, spreads. Runs and trials are not known here.

mod median;
mod ratio;
#[cfg(test)]
pub(crate) mod simulation;
mod spread;
mod student;

pub use median::median;
pub use ratio::{Ratio, holm, p_of_no_change, ratio_of, ratio_unpaired};
pub use spread::{Spreads, compare_spreads};
