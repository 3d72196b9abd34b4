//! From an experiment file to a report: plan, trials, probes, results, claims.

pub mod analysis;
pub mod claims;
pub mod metrics;
pub mod probes;
pub mod report;
pub mod results;
