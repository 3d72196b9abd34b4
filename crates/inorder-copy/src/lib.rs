//! Copies a whole database: tables, rows, keys, indexes and foreign keys, from SQLite, MariaDB or PostgreSQL to
//! PostgreSQL or SQLite.
//!
//! All rows are read from one snapshot of the source. Each table is copied in one transaction of the destination: the
//! table is created, its rows are written in the order of its key, its keys and indexes are built, and its rows are
//! read back. The table is kept only if the rows that are read back have the same count and hash as the rows that were
//! read from the source. A table in the destination records the finished tables, so a copy that was stopped continues
//! with the others.

mod defaults;
mod destination;
mod error;
mod incoming;
mod meaning;
pub mod model;
mod number;
mod plan;
mod rules;
mod run;
mod settle;
pub mod source;
mod sqlite;
mod stop;
mod temporal;
mod translate;
mod value;

pub use error::Error;
pub use meaning::Compared;
pub use run::{Job, Observer, Summary, TableSummary, Touched, plan as plan_of, run};
pub use stop::Stop;
pub use value::Kind;
