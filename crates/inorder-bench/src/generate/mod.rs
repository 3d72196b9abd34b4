//! Makes the rows that a trial writes: columns filled from recipes, and batches sorted before the insert.
//!
//! Everything here is reproducible: the same recipe and seed give the same bytes.

mod fill;
mod presort;
mod words;
mod workload;

pub use fill::{FRESH_BYTES_MAX, Fill, Filler, POOL_BYTES};
pub use presort::{Presort, presort};
pub use words::{Names, Titles};
pub use workload::{Chooser, Skew, Workload};
