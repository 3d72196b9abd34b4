//! The progress of a load, for other threads, and a way to stop it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::Error;
use crate::source::Meter;

/// The step that a load is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Reads and encodes rows.
    Read,
    /// Sorts rows.
    Sort,
    /// Writes rows.
    Write,
    /// Builds what comes after the rows, such as indexes, and commits.
    Finish,
}

/// The progress of one load, shared between threads.
///
/// A clone refers to the same load: hand one to [`run`](crate::run) and watch the other, or [`stop`](Progress::stop) the
/// load with it.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    meter: Meter,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    phase: AtomicU8,
    rows_read: AtomicU64,
    rows_written: AtomicU64,
    bytes_total: AtomicU64,
}

impl Progress {
    /// Returns the current step.
    pub fn phase(&self) -> Phase {
        match self.state.phase.load(Relaxed) {
            0 => Phase::Read,
            1 => Phase::Sort,
            2 => Phase::Write,
            _ => Phase::Finish,
        }
    }

    /// Returns the rows read so far.
    pub fn rows_read(&self) -> u64 {
        self.state.rows_read.load(Relaxed)
    }

    /// Returns the rows handed to the database so far.
    pub fn rows_written(&self) -> u64 {
        self.state.rows_written.load(Relaxed)
    }

    /// Returns the bytes read from the inputs so far, before decompression.
    pub fn bytes_read(&self) -> u64 {
        self.meter.bytes()
    }

    /// Returns the bytes of all inputs; 0 if that is unknown, as for stdin.
    pub fn bytes_total(&self) -> u64 {
        self.state.bytes_total.load(Relaxed)
    }

    /// The progress of a further load, from its beginning. [`stop`](Progress::stop) of either stops both.
    #[must_use]
    pub fn for_next(&self) -> Self {
        Progress {
            meter: self.meter.for_next(),
            ..Progress::default()
        }
    }

    /// Requests cancellation: the load ends soon with [`Error::Stopped`](crate::Error::Stopped) and changes nothing.
    pub fn stop(&self) {
        self.meter.stop();
    }

    /// Returns [`Error::Stopped`] if cancellation was requested.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.is_stopped() {
            true => Err(Error::Stopped),
            false => Ok(()),
        }
    }

    /// Whether cancellation was requested.
    pub fn is_stopped(&self) -> bool {
        self.meter.is_stopped()
    }

    /// The counter of bytes read.
    pub(crate) fn meter(&self) -> Meter {
        self.meter.clone()
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
