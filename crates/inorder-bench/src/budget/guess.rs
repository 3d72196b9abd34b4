//! Estimates the duration of a trial before a similar one has run.

use crate::{
    experiment::{Reads, factors::Setup},
    generate::Workload,
};

/// Seconds of a trial without rows: its process, its database, the report of its samples.
const TRIAL_S: f64 = 0.05;
/// Seconds per row, and per byte of its payload; each writer beside the first adds half, because writers wait for each other.
const ROW_S: f64 = 3e-6;
const BYTE_S: f64 = 1.5e-8;
/// Seconds per transaction.
const TRANSACTION_S: f64 = 2e-5;
/// Seconds per warm look-up; a tenth as many are cold, each with a new connection.
const READ_S: f64 = 1e-5;
/// Seconds to start a private server.
const SERVER_S: f64 = 3.0;

/// Seconds of a trial on two cores of a server CPU of 2024.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guess {
    /// While rows are written.
    pub load_s: f64,
    /// Before and after, and while the next rows are waited for.
    pub other_s: f64,
}

/// Seconds that a trial takes. Once a trial has run, only proportions count.
pub(super) fn seconds(setup: &Setup, reads: &Reads) -> f64 {
    let guess = Guess::of(setup, reads);
    guess.load_s + guess.other_s
}

impl Guess {
    /// The guess for a setup.
    pub fn of(setup: &Setup, reads: &Reads) -> Self {
        let rows = setup.rows_at_end() as f64;
        let transactions = rows / setup.rows_per_transaction.max(1) as f64;
        let reads = (reads.points + reads.ranges + reads.queries) as f64;
        let server_s = match setup.engine.as_str() {
            "sqlite" => 0.0,
            _ => SERVER_S,
        };
        let waiting = 1.0 + (setup.writers.max(1) - 1) as f64 / 2.0;
        let row_s = waiting * (ROW_S + setup.payload_bytes as f64 * BYTE_S);
        let work_s = match setup.workload {
            Workload::None => 0.0,
            _ => setup.operations as f64 * (row_s + READ_S),
        };
        let arriving_s = match setup.arriving_rows_per_s {
            0 => 0.0,
            per_s => setup.rows as f64 / per_s as f64,
        };
        Guess {
            load_s: rows * row_s + transactions * TRANSACTION_S,
            other_s: TRIAL_S + arriving_s + server_s + reads * READ_S + work_s,
        }
    }
}
