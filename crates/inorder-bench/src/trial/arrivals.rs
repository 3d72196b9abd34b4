//! Rows that arrive at a fixed rate (an open loop), and how long each transaction takes from when it was due.
//!
//! A transaction that is due while all writers are busy waits, and the wait counts. A loop that sends the next row after the
//! answer to the last one would send fewer rows during a pause of the server, and so hide it (coordinated omission).

use crate::{error::Error, experiment::factors::Setup, results::Sample};
use hdrhistogram::Histogram;
use std::{
    thread::sleep,
    time::{Duration, Instant},
};

/// The longest latency that is told from others, in nanoseconds: an hour.
const LATENCY_NS_MAX: u64 = 3_600_000_000_000;
/// Significant digits of a latency.
const DIGITS: u8 = 3;
/// Quantiles that are sampled, by the name of the sample's part.
const QUANTILES: &[(&str, f64)] = &[("p50", 0.50), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)];

/// The times at which rows are due.
#[derive(Clone, Copy)]
pub struct Schedule {
    started: Instant,
    rows_per_s: u64,
}

impl Schedule {
    /// The schedule of a setup with a fixed rate, which starts now.
    pub fn start(setup: &Setup) -> Option<Self> {
        (setup.arriving_rows_per_s > 0).then(|| Schedule {
            started: Instant::now(),
            rows_per_s: setup.arriving_rows_per_s,
        })
    }

    /// The time after the start at which the row of this number is due, counted from 0.
    fn after(self, row: u64) -> Duration {
        Duration::from_secs_f64(row as f64 / self.rows_per_s as f64)
    }

    /// Waits until this row is due, unless it is late already. Returns when it was due.
    pub fn wait(self, row: u64) -> Instant {
        let due = self.started + self.after(row);
        sleep(due.saturating_duration_since(Instant::now()));
        due
    }
}

/// The latencies of all transactions.
pub struct Latencies {
    schedule: Schedule,
    histogram: Histogram<u64>,
    last: Instant,
}

impl Latencies {
    /// No latencies yet.
    ///
    /// # Errors
    /// If the bounds of the histogram are wrong.
    pub fn new(schedule: Schedule) -> Result<Self, Error> {
        let histogram = Histogram::new_with_bounds(1, LATENCY_NS_MAX, DIGITS)
            .map_err(|error| Error::Trial(format!("latency histogram: {error}")))?;
        Ok(Latencies {
            last: schedule.started,
            schedule,
            histogram,
        })
    }

    /// The schedule.
    pub fn schedule(&self) -> Schedule {
        self.schedule
    }

    /// Records a transaction that was due and has been committed.
    pub fn record(&mut self, due: Instant, committed: Instant) {
        let latency = committed.saturating_duration_since(due);
        self.histogram.saturating_record(latency.as_nanos() as u64);
        self.last = self.last.max(committed);
    }

    /// The samples after so many rows.
    pub fn samples(&self, rows: u64) -> Vec<Sample> {
        let sample = |probe: &str, part: &str, value| Sample {
            probe: probe.to_owned(),
            part: part.to_owned(),
            rows,
            value: Some(value),
        };
        let us = |ns: f64| ns / 1000.0;
        let latency = |part, ns| sample("transaction_latency_us", part, us(ns));
        let quantiles = QUANTILES.iter();
        let mut samples: Vec<Sample> = quantiles
            .map(|(part, at)| latency(part, self.histogram.value_at_quantile(*at) as f64))
            .collect();
        samples.push(latency("mean", self.histogram.mean()));
        let took = self.last - self.schedule.started;
        let kept = self.schedule.after(rows).as_secs_f64() / took.as_secs_f64();
        samples.push(sample("rate_kept_share", "", kept.min(1.0)));
        samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(samples: &[Sample], probe: &str, part: &str) -> f64 {
        let found = samples.iter().find(|s| s.probe == probe && s.part == part);
        found.and_then(|sample| sample.value).unwrap()
    }

    /// A server that takes 1 ms per transaction and pauses once for a second, on a schedule of 100 rows per second.
    #[test]
    fn a_pause_counts_for_every_transaction_that_was_due_in_it() {
        let schedule = Schedule {
            started: Instant::now(),
            rows_per_s: 100,
        };
        let mut latencies = Latencies::new(schedule).unwrap();
        let ms = Duration::from_millis;
        let mut free = schedule.started;
        for row in 0..1000 {
            let due = schedule.started + schedule.after(row);
            let pause = if row == 500 { ms(1000) } else { ms(0) };
            free = free.max(due) + pause + ms(1);
            latencies.record(due, free);
        }
        let samples = latencies.samples(1000);
        let us = |part| last(&samples, "transaction_latency_us", part);
        let is_near = |value: f64, wanted: f64| (value / wanted - 1.0).abs() < 0.01;
        assert!(is_near(us("p50"), 1000.0), "{}", us("p50"));
        assert!(is_near(us("max"), 1_001_000.0), "{}", us("max"));
        // About 111 transactions waited: a closed loop would have seen one, and a p99 of 1 ms.
        assert!(us("p99") > 900_000.0, "{}", us("p99"));
        assert_eq!(last(&samples, "rate_kept_share", ""), 1.0);
    }

    #[test]
    fn a_server_that_is_too_slow_keeps_a_share_of_the_rate() {
        let schedule = Schedule {
            started: Instant::now(),
            rows_per_s: 1000,
        };
        let mut latencies = Latencies::new(schedule).unwrap();
        for row in 0..1000 {
            let committed = schedule.started + Duration::from_millis(4 * (row + 1));
            latencies.record(schedule.started + schedule.after(row), committed);
        }
        let kept = last(&latencies.samples(1000), "rate_kept_share", "");
        assert!((kept - 0.25).abs() < 0.001, "{kept}");
    }
}
