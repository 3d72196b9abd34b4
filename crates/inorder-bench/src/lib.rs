//! From an experiment file to a report: plan, trials, probes, results, claims.
//!
//! An [`experiment`] is parsed from TOML, [`plan`]ned into trials, each [`trial`] runs in a process
//! of its own, and what it measured is kept in a result file ([`results`]). [`analysis`] makes
//! medians, curves and ratios of it, [`claims`] verdicts, [`report`] pages. This crate knows no
//! command line, no colours of a terminal and no database driver but that of its own result file.

pub mod analysis;
pub mod claims;
mod clock;
pub mod engines;
mod error;
pub mod experiment;
pub mod experiments;
mod host;
pub mod metrics;
pub mod plan;
pub mod probes;
pub mod report;
pub mod results;
pub mod rules;
pub mod run;
pub mod runner;
pub mod trial;

pub use error::{Error, nearest};
