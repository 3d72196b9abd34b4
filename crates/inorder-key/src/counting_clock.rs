//! A clock that counts ids instead of time.

use crate::{Clock, Reading, UnixTime};

/// A clock that advances by one millisecond per fixed number of ids.
#[derive(Clone, Copy, Debug)]
pub struct CountingClock {
    ms: u64,
    keys_per_ms: usize,
    left: usize,
}

impl CountingClock {
    /// Start time of reproducible streams: 2024-01-01T00:00:00Z.
    pub const START_MS: u64 = 1_704_067_200_000;

    /// Keys per millisecond of reproducible streams.
    pub const KEYS_PER_MS: usize = 20;

    /// Creates a clock that starts at `start_ms` milliseconds since the Unix epoch and advances one millisecond per
    /// `keys_per_ms` ids (0 counts as 1).
    pub fn new(start_ms: u64, keys_per_ms: usize) -> Self {
        let keys_per_ms = keys_per_ms.max(1);
        Self {
            ms: start_ms,
            keys_per_ms,
            left: keys_per_ms,
        }
    }
}

impl Default for CountingClock {
    fn default() -> Self {
        Self::new(Self::START_MS, Self::KEYS_PER_MS)
    }
}

impl Clock for CountingClock {
    #[inline]
    fn read(&mut self, wanted: usize) -> Reading {
        if self.left == 0 {
            self.ms += 1;
            self.left = self.keys_per_ms;
        }
        let ids = wanted.min(self.left);
        self.left -= ids;
        Reading {
            time: UnixTime::from_ms(self.ms),
            ids,
        }
    }
}
