//! How to advise, and who watches.

use crate::classify::Settled;
use crate::counter::Readings;

/// What is being done.
pub trait Observer: Sync {
    /// A step begins.
    fn step(&self, name: &str);
    /// The step goes on with a table or an index.
    fn object(&self, name: &str);
}

/// How to advise.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Threads to use; 0 for as many as the machine has, at most two.
    pub threads: usize,
    /// Statements of the application.
    pub queries: Vec<String>,
    /// Whether the minor changes are part of the plan.
    pub takes_minor: bool,
    /// Whether the copy stays as it was taken, for [`crate::migrate`].
    pub keeps_copy: bool,
    /// What the user says of columns.
    pub settled: Option<Settled>,
    /// Takes a sample of about so many bytes instead of a copy: every figure is an estimate.
    pub sample_bytes: Option<u64>,
    /// The counters of an earlier report: they tell for how many days each counter lasts.
    pub since: Option<Readings>,
}
