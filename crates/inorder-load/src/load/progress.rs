//! How far a load is, for whoever watches it from another thread, and a way to stop it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::source::Meter;

/// What a load does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Reads rows.
    Read,
    /// Puts them in order.
    Sort,
    /// Writes them.
    Write,
    /// Makes what is made after them, such as indexes, and commits.
    Finish,
}

/// The state of one load, shared.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    pub(crate) meter: Meter,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    phase: AtomicU8,
    rows_read: AtomicU64,
    rows_written: AtomicU64,
    bytes_total: AtomicU64,
    is_stopped: AtomicBool,
}

impl Progress {
    /// What it does now.
    pub fn phase(&self) -> Phase {
        match self.state.phase.load(Relaxed) {
            0 => Phase::Read,
            1 => Phase::Sort,
            2 => Phase::Write,
            _ => Phase::Finish,
        }
    }

    /// Rows read so far.
    pub fn rows_read(&self) -> u64 {
        self.state.rows_read.load(Relaxed)
    }

    /// Rows handed to the database so far.
    pub fn rows_written(&self) -> u64 {
        self.state.rows_written.load(Relaxed)
    }

    /// Bytes of the inputs read so far, compressed as they are.
    pub fn bytes_read(&self) -> u64 {
        self.meter.bytes()
    }

    /// Bytes of all inputs; 0 where that isn't known.
    pub fn bytes_total(&self) -> u64 {
        self.state.bytes_total.load(Relaxed)
    }

    /// Makes the load end soon, with nothing loaded.
    pub fn stop(&self) {
        self.state.is_stopped.store(true, Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.state.is_stopped.load(Relaxed)
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.state.phase.store(phase as u8, Relaxed);
    }

    pub(crate) fn set_rows_read(&self, rows: u64) {
        self.state.rows_read.store(rows, Relaxed);
    }

    pub(crate) fn set_rows_written(&self, rows: u64) {
        self.state.rows_written.store(rows, Relaxed);
    }

    pub(crate) fn set_bytes_total(&self, bytes: u64) {
        self.state.bytes_total.store(bytes, Relaxed);
    }
}
