//! The comparison of two runs, and its reports.

mod comparison;
mod render;

pub use comparison::{Change, Compared, ComparedCell, ComparedExperiment, Comparison, compare};
pub use render::render;
