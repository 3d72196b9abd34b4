//! Where rows come from (CSV, JSONL, IMDb's TSV, or made up) and the order they are written in.

pub mod destination;
pub mod encode;
mod error;
mod gather;
pub mod load;
mod nearest;
pub mod order;
pub mod recipe;
mod rng;
pub mod source;
mod sql;
pub mod target;
pub mod words;

pub use error::Error;
pub use order::{Presort, presort};
pub use recipe::{Fill, Filler};
pub use source::Table;
