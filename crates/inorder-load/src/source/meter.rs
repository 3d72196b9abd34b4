//! Counts what is read, for other threads, and ends waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes read so far, compressed as they are, for a progress bar in another thread, and whether that wants reading to end.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    bytes: Arc<AtomicU64>,
    is_stopped: Arc<AtomicBool>,
}

impl Meter {
    /// The bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// A meter from 0 that is stopped together with this one.
    pub(crate) fn for_next(&self) -> Self {
        Meter {
            bytes: Arc::default(),
            is_stopped: Arc::clone(&self.is_stopped),
        }
    }

    /// Ends waits for further bytes.
    pub(crate) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Whether reading is to end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}
