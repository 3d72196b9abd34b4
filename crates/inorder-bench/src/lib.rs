//! From an experiment file to a report: plan, trials, probes, results, claims.
//!
//! An [`experiment`] is parsed from TOML, [`plan`]ned into trials, each [`trial`] runs in a process
//! of its own, and what it measured is kept in a result file ([`results`]). [`analysis`] computes
//! medians, curves and ratios, [`claims`] judges published claims, [`report`] writes reports. This crate knows no command
//! line, no colours of a terminal, and no database driver except SQLite's, for its own result file and for the reference
//! work of trials.

pub mod analysis;
pub mod budget;
mod check;
pub mod claims;
mod clock;
mod core_time;
pub mod engines;
mod error;
pub mod experiment;
pub mod experiments;
pub mod footprint;
pub mod format;
pub mod generate;
mod host;
pub mod metrics;
mod noise_meter;
pub mod plan;
pub mod probes;
pub mod report;
pub mod results;
pub mod rules;
pub mod run;
pub mod runner;
pub mod schema;
pub mod statistics;
pub mod trial;

pub use error::{Error, nearest};
