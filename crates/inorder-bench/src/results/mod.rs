//! The results of a run: the data model, and the SQLite file that stores it.

mod find;
pub mod left_out;
mod model;
mod store;

pub use model::{Cell, EngineRecord, Experiment, Meta, Noise, Run, Sample, Status, Trial};
pub use store::{FORMAT_VERSION, Store};
