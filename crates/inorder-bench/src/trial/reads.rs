//! Look-ups after the load, cold and warm.

use super::{
    found::{Probes, Texts},
    reference::Reference,
    subject::{Subject, equals},
};
use crate::error::Error;
use hdrhistogram::Histogram;
use inorder_engine::{Batch, Column, Database};
use std::time::Instant;

/// Rows of a range.
const RANGE_ROWS: u64 = 100;
/// Rows that a look-up of a stored key finds at least; what an experiment's own query finds is its own matter.
const ONE: u64 = 1;
/// Reads from a cold cache, as a share of the warm ones.
const COLD: u64 = 10;

/// Keys that the engine assigned to `rows` rows, about `most` of them: 1 and up, where it leaves none out.
pub(super) fn assigned_keys(
    database: &dyn Database,
    table: &str,
    column: Option<&str>,
    rows: u64,
    most: u64,
) -> Result<Column, Error> {
    let counted = match column {
        Some(column) => database.counted(table, column, most)?,
        None => None,
    };
    let step = rows.div_ceil(most).max(1) as usize;
    let keys = counted.unwrap_or_else(|| (1..=rows as i64).step_by(step).collect());
    Ok(Column::Integers(keys))
}

/// The mean distance between neighbouring keys in an even sample of assigned keys.
pub(super) fn key_step(keys: &Column, rows: u64) -> Option<f64> {
    let Column::Integers(keys) = keys else {
        return None;
    };
    let (first, last) = (keys.first()?, keys.last()?);
    let between = rows.div_ceil(keys.len() as u64) * (keys.len() as u64 - 1);
    (between > 0).then(|| (last - first) as f64 / between as f64)
}

/// Times the requested reads. Returns the plan of the experiment's query.
pub(super) fn read(subject: &Subject<'_>, probes: &mut Probes<'_>) -> Result<Texts, Error> {
    let reads = &subject.experiment.reads;
    let has_none = reads.points == 0 && reads.ranges == 0 && reads.query.is_none();
    // Keys that the engine made aren't known.
    if has_none || subject.kept.rows() == 0 {
        return Ok(Vec::new());
    }
    let mut reference = Reference::of(subject.setup, subject.database);
    let mut refer = |probes: &mut Probes<'_>| {
        if let Some(reference) = &mut reference {
            probes.push("reference_cpu_s", "reads", reference.cpu_s());
        }
    };
    refer(probes);
    let texts = read_each(subject, probes)?;
    refer(probes);
    Ok(texts)
}

/// Times each kind of read.
fn read_each(subject: &Subject<'_>, probes: &mut Probes<'_>) -> Result<Texts, Error> {
    let reads = &subject.experiment.reads;
    let (table, by) = (&subject.table_sql, &subject.by_sql);
    if reads.points > 0 && subject.lookup.is_indexed {
        let sql = format!("SELECT * FROM {table} WHERE {}", equals(by));
        latency(subject, probes, "point_lookup_us", &sql, reads.points, ONE)?;
    }
    if reads.ranges > 0 && subject.lookup.is_indexed {
        let columns = by.join(", ");
        let places = vec!["?"; by.len()].join(", ");
        let sql = format!(
            "SELECT * FROM {table} WHERE ({columns}) >= ({places}) ORDER BY {columns} LIMIT {RANGE_ROWS}"
        );
        latency(subject, probes, "range_lookup_us", &sql, reads.ranges, ONE)?;
    }
    let Some(sql) = &reads.query else {
        return Ok(Vec::new());
    };
    latency(subject, probes, "query_us", sql, reads.queries, 0)?;
    let plan = subject.database.query_plan(sql)?;
    Ok(vec![("query plan".to_owned(), plan.join("\n"))])
}

/// Latency of one query: first cold, then warm. Each opens its own connection, so that the page
/// cache is empty when the cold ones begin.
fn latency(
    subject: &Subject<'_>,
    probes: &mut Probes<'_>,
    probe: &str,
    sql: &str,
    times: u64,
    rows_min: u64,
) -> Result<(), Error> {
    let database = subject.database;
    let timed = |is_warm, times| {
        let queries = Queries {
            sql,
            keys: &subject.kept,
            times,
            rows_min,
        };
        queries.time(database, is_warm)
    };
    let cold = match database.forget_cached_pages()? {
        true => Some(timed(false, (times / COLD).max(1))?),
        false => None,
    };
    let warm = timed(true, times)?;
    for (name, histogram) in [("cold", cold), ("warm", Some(warm))] {
        let us = |ns: f64| ns / 1000.0;
        let at = |quantile: f64| {
            histogram
                .as_ref()
                .map(|h| us(h.value_at_quantile(quantile) as f64))
        };
        probes.push(probe, &format!("{name}.p50"), at(0.50));
        probes.push(probe, &format!("{name}.p99"), at(0.99));
        let mean = histogram.as_ref().map(|h| us(h.mean()));
        probes.push(probe, &format!("{name}.mean"), mean);
    }
    Ok(())
}

/// One query, run with one key after another.
struct Queries<'a> {
    sql: &'a str,
    keys: &'a Batch,
    times: u64,
    rows_min: u64,
}

impl Queries<'_> {
    /// Times the query with the keys in an order that jumps over the table. A warm one has read every one of these
    /// keys before, on the same connection.
    fn time(&self, database: &dyn Database, is_warm: bool) -> Result<Histogram<u64>, Error> {
        let mut reader = database.reader(self.sql)?;
        // Three significant digits, 1 ns to a minute: a quantile is exact to 0.1% (<https://hdrhistogram.github.io/HdrHistogram/>).
        let mut histogram = Histogram::new_with_bounds(1, 60_000_000_000, 3)
            .map_err(|error| Error::Trial(format!("latency histogram: {error}")))?;
        // A multiplicative step by the golden ratio visits keys without a pattern.
        let rows = self.keys.rows().max(1) as u64;
        let row = |n: u64| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % rows) as usize;
        if is_warm {
            for n in 0..self.times {
                reader.query(self.keys, row(n))?;
            }
        }
        for n in 0..self.times {
            let began = Instant::now();
            let found = reader.query(self.keys, row(n))?;
            histogram.saturating_record(began.elapsed().as_nanos() as u64);
            if found < self.rows_min {
                let values = self.keys.columns.iter().map(|c| c.value(row(n)));
                return Err(Error::Trial(format!(
                    "a look-up of a stored key found no row ({:?}): {}",
                    values.collect::<Vec<_>>(),
                    self.sql
                )));
            }
        }
        Ok(histogram)
    }
}
