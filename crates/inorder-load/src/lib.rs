//! Where rows come from (CSV, JSONL, IMDb's TSV, or made up) and the order they are written in.

mod gather;
pub mod order;
mod rng;

pub use order::{Presort, presort};
