//! Advice on the keys, layouts and indexes of an existing database.

pub mod advice;
mod apply;
mod change;
mod check;
pub mod classify;
pub mod counter;
mod ddl;
mod error;
mod migrate;
#[cfg(test)]
mod property;
pub mod read;
mod rekey;
pub mod report;
pub mod rules;
mod sample;
pub mod server;
pub mod snapshot;
mod sql;
pub mod trial;

pub use apply::apply;
pub use change::{Change, Conversion, IdForm, Plan};
pub use error::Error;
pub use migrate::{Migration, migrate, undo};
pub use rekey::{Phase, Progress, Rekey, Rekeyed};
pub use sample::SampledTable;
