//! Where ids get their time from.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A moment as ids hold it: milliseconds since 1970-01-01T00:00:00Z and what lies past the millisecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixTime {
    /// Whole milliseconds since the Unix epoch, at most [`UnixTime::MS_MAX`] in an id.
    pub ms: u64,
    /// Nanoseconds past the millisecond, 0 to 999,999.
    pub sub_ms_nanos: u32,
}

impl UnixTime {
    /// The last millisecond that 48 bits can name: in the year 10889.
    pub const MS_MAX: u64 = (1 << 48) - 1;

    /// The moment at which a millisecond begins.
    pub const fn from_ms(ms: u64) -> Self {
        Self {
            ms,
            sub_ms_nanos: 0,
        }
    }
}

impl fmt::Display for UnixTime {
    /// As RFC 3339 has it, to the millisecond: `2022-02-22T19:22:22.000Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DAYS_IN_400_YEARS: u64 = 146_097;
        let (seconds, ms) = (self.ms / 1000, self.ms % 1000);
        let (days, second) = (seconds / 86_400, seconds % 86_400);
        // Years begin in March here, so that the leap day ends them; day 0 is 0000-03-01.
        let days = days + 719_468;
        let (cycle, day) = (days / DAYS_IN_400_YEARS, days % DAYS_IN_400_YEARS);
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let year = 400 * cycle + year + u64::from(month >= 10);
        let month = (month + 2) % 12 + 1;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z"
        )
    }
}

impl From<SystemTime> for UnixTime {
    /// The system's time, or the epoch itself for a time before it.
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self {
            ms: since.as_secs() * 1000 + u64::from(since.subsec_millis()),
            sub_ms_nanos: since.subsec_nanos() % 1_000_000,
        }
    }
}

/// What a clock answered: the time, and for how many ids it may be used before the clock is read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The time.
    pub time: UnixTime,
    /// How many ids may take this time, at least 1.
    pub ids: usize,
}

/// A source of time for ids.
///
/// It may stand still or step back: generators keep their order regardless.
pub trait Clock {
    /// Reads the clock on behalf of the next `wanted` ids (at least 1); the answer serves 1 to `wanted` of them.
    fn read(&mut self, wanted: usize) -> Reading;
}

/// The system's real-time clock.
///
/// A batch reads it once in 256 ids, about a microsecond.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[inline]
    fn read(&mut self, wanted: usize) -> Reading {
        Reading {
            time: SystemTime::now().into(),
            ids: wanted.min(256),
        }
    }
}

/// A clock that ids themselves move: one millisecond every so many ids.
#[derive(Clone, Copy, Debug)]
pub struct CountingClock {
    ms: u64,
    keys_per_ms: usize,
    left: usize,
}

impl CountingClock {
    /// Where reproducible streams begin: 2024-01-01T00:00:00Z.
    pub const START_MS: u64 = 1_704_067_200_000;

    /// How many keys reproducible streams make in a millisecond.
    pub const KEYS_PER_MS: usize = 20;

    /// A clock that starts at `start_ms` milliseconds since the Unix epoch and gains one millisecond every
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_rfc_3339_has_them() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_469_922_850_259, "2016-07-30T23:54:10.259Z"),
            (CountingClock::START_MS - 1, "2023-12-31T23:59:59.999Z"),
            (CountingClock::START_MS, "2024-01-01T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (UnixTime::MS_MAX, "10889-08-02T05:31:50.655Z"),
        ] {
            assert_eq!(UnixTime::from_ms(ms).to_string(), text);
        }
    }
}
