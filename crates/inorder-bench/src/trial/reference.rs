//! The reference work: the same work in every trial, beside what is measured. Its CPU time says how fast the machine is.
//!
//! A core that shares its execution units with the work of others, or whose clock changes, takes up to 1.8 times the CPU
//! time for the same work, and the system does not tell. The reference work is SQLite's own, because a loop of arithmetic
//! is slowed down less than a trial is (METHODOLOGY.md, "The reference work").

use super::found::is_alone;
use crate::{clock::Clock, experiment::factors::Setup, statistics::median};
use inorder_engine::Database;
use inorder_key::bulk::SplitMix64;
use rusqlite::{Connection, params};
use std::time::{Duration, Instant};

/// Rows of a part of the work: 0.3 ms on a server CPU of 2024.
const ROWS: u32 = 300;
/// Parts that are timed: the median leaves out an interrupt.
const PARTS: usize = 9;
/// Parts before them, which fill the processor's caches and the heap.
const PARTS_BEFORE: usize = 3;
/// Bytes of a row's value.
const VALUE_BYTES: usize = 50;
/// Time from one time to the next while a table grows: the work takes a twentieth of it.
const EVERY: Duration = Duration::from_millis(100);

/// Does the reference work now and then.
pub struct Reference {
    last: Option<Instant>,
}

impl Reference {
    /// The reference work of a trial. `None` where other threads work too, of several writers or of a server: how much they
    /// slow each other down belongs to what is measured.
    pub fn of(setup: &Setup, database: &dyn Database) -> Option<Self> {
        let is_one_thread = setup.writers == 1 && is_alone(database);
        is_one_thread.then_some(Reference { last: None })
    }

    /// Whether the last time is long ago.
    pub fn is_due(&self) -> bool {
        self.last.is_none_or(|last| last.elapsed() >= EVERY)
    }

    /// Does the work: fills a table in memory in random order of its keys. Returns the median CPU time of its parts, in
    /// seconds; `None` where memory is missing.
    pub fn cpu_s(&mut self) -> Option<f64> {
        let parts = fill().ok()?;
        self.last = Some(Instant::now());
        median(parts.into_iter().skip(PARTS_BEFORE))
    }
}

/// CPU seconds of each part of the work.
fn fill() -> Result<Vec<f64>, rusqlite::Error> {
    let database = Connection::open_in_memory()?;
    database.execute_batch(
        "CREATE TABLE reference (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID; BEGIN",
    )?;
    let mut insert = database.prepare("INSERT INTO reference VALUES (?1, ?2)")?;
    let mut random = SplitMix64::new(0);
    let mut clock = Clock::start();
    let mut part = || {
        for _ in 0..ROWS {
            let key = [random.bits(), random.bits()].map(u64::to_be_bytes);
            insert.execute(params![key.as_flattened(), [0x55_u8; VALUE_BYTES]])?;
        }
        Ok(clock.lap().cpu_s)
    };
    (0..PARTS_BEFORE + PARTS).map(|_| part()).collect()
}
