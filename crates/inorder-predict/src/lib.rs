//! Predicts what inserts into a table cost: bytes written per insert, sizes, depth and cache hits at any number of rows.
//!
//! The pages of each tree are simulated: where an entry goes, how a page splits, which pages the cache keeps, and what a
//! commit and a checkpoint write. Above some million rows, a tree with random keys is a sample: the simulation keeps the
//! pages of one part of the keys, and each of its pages stands for several (spatial sampling, as in C. Waldspurger et
//! al., "Efficient MRC construction with SHARDS", FAST 2015). A prediction has an error: the spread over seeds, and the error
//! that predictions of this engine had against runs.

mod answer;
mod arrivals;
mod bplus;
mod clock;
#[cfg(test)]
mod closed_forms;
mod columns;
mod counters;
mod error;
mod growth;
mod lru;
mod mariadb;
mod member;
mod members;
mod model;
mod postgres;
mod question;
mod scale;
mod simulate;
mod sqlite;

pub use answer::{Answer, Crossing, Estimate, Stage, Volume, crossings, predict, predict_volume};
pub use arrivals::Order;
pub use columns::{SecondaryIndex, Values};
pub use counters::Counters;
pub use error::Error;
pub use mariadb::segments::{allocated_pages, extent_pages};
pub use model::TreeSize;
pub use question::{Beside, Engine, Layout, Question};
pub use simulate::{Course, Point, simulate};
