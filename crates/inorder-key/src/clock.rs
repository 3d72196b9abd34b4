//! Clocks: the sources of time for ids.

use std::cell::Cell;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::machine;

/// A time as ids store it: milliseconds since 1970-01-01T00:00:00Z, and the nanoseconds within the millisecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixTime {
    /// Whole milliseconds since the Unix epoch, at most [`UnixTime::MS_MAX`] in an id.
    pub ms: u64,
    /// Nanoseconds within the millisecond, 0 to 999,999.
    pub sub_ms_nanos: u32,
}

impl UnixTime {
    /// The last millisecond that 48 bits can represent, in the year 10889.
    pub const MS_MAX: u64 = (1 << 48) - 1;

    /// Creates the time at which a millisecond begins.
    pub const fn from_ms(ms: u64) -> Self {
        Self {
            ms,
            sub_ms_nanos: 0,
        }
    }
}

impl fmt::Display for UnixTime {
    /// Formats the time as RFC 3339 to the millisecond: `2022-02-22T19:22:22.000Z`.
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
    /// Converts a system time. A time before 1970 becomes the epoch.
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self {
            ms: since.as_secs() * 1000 + u64::from(since.subsec_millis()),
            sub_ms_nanos: since.subsec_nanos() % 1_000_000,
        }
    }
}

/// The result of reading a clock: the time, and the number of ids that may use it before the next reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The time.
    pub time: UnixTime,
    /// Number of ids that may use this time, at least 1.
    pub ids: usize,
}

/// A source of time for ids.
///
/// The clock may stand still or be set back. Generators keep their order in both cases.
pub trait Clock {
    /// Reads the clock for the next `wanted` ids (at least 1). The reading is valid for 1 to `wanted` of them.
    fn read(&mut self, wanted: usize) -> Reading;
}

/// The system's real-time clock.
///
/// A batch reads it once per 256 ids, about once per microsecond.
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

/// A clock for the current millisecond that costs less than half of [`SystemClock`].
///
/// It reads the processor's counter first (9 ns; the system clock takes 22 ns). While the counter shows that the
/// millisecond this thread last read cannot have ended, the clock returns that millisecond. The counter only limits
/// how long a reading is valid, one millisecond at most. A counter that differs between processors, stops in standby
/// or jumps afterwards therefore extends no reading. Setting the system clock extends none either.
#[inline]
pub(crate) fn now_ms() -> u64 {
    thread_local! {
        static LAST: Cell<Answer> = const { Cell::new(Answer { ms: 0, since: 0, ticks: 0 }) };
    }
    let Some(ticks) = machine::ticks() else {
        return SystemClock.read(1).time.ms;
    };
    LAST.with(|last| match last.get().at(ticks) {
        Some(ms) => ms,
        None => {
            let time = SystemClock.read(1).time;
            last.set(Answer::new(time, ticks));
            time.ms
        }
    })
}

/// The last reading of the system clock, and the limit of its validity.
#[derive(Clone, Copy)]
struct Answer {
    ms: u64,
    /// The value of the counter shortly before the clock was read.
    since: u64,
    /// Number of counter steps for which the reading is valid.
    ticks: u64,
}

impl Answer {
    /// Creates a reading that is valid for as many counter steps as nanoseconds remain in the millisecond. The counter
    /// makes two to four steps per nanosecond, so about thirty readings per millisecond approach its end.
    fn new(time: UnixTime, since: u64) -> Self {
        Self {
            ms: time.ms,
            since,
            ticks: u64::from(1_000_000u32.saturating_sub(time.sub_ms_nanos)),
        }
    }

    /// Returns the millisecond if it is still valid. A counter that went backwards counts as expired.
    #[inline]
    fn at(self, ticks: u64) -> Option<u64> {
        (ticks.wrapping_sub(self.since) < self.ticks).then_some(self.ms)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn is_right(now: impl Fn() -> u64) -> bool {
        let (before, now, after) = (SystemClock.read(1), now(), SystemClock.read(1));
        (before.time.ms..=after.time.ms).contains(&now)
    }

    #[test]
    fn the_time_is_never_off_by_a_millisecond() {
        let wrong = (0..200_000).filter(|_| !is_right(now_ms)).count();
        // None, unless the clock is being set.
        assert!(wrong <= 2, "{wrong} of 200000");
    }

    #[test]
    fn the_time_is_right_after_a_pause_and_in_a_new_thread() {
        let pauses = || {
            let wrong = (0..300u64).filter(|i| {
                std::thread::sleep(Duration::from_micros(i * 37 % 1500));
                !is_right(now_ms)
            });
            wrong.count()
        };
        let wrong: usize = std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(pauses));
            threads.map(|thread| thread.join().unwrap()).iter().sum()
        });
        assert!(wrong <= 2, "{wrong} of 1200");
    }

    #[test]
    fn an_answer_holds_until_its_millisecond_ends() {
        let time = UnixTime {
            ms: 5,
            sub_ms_nanos: 999_000,
        };
        let answer = Answer::new(time, 10_000);
        for (ticks, ms) in [
            (10_000, Some(5)),
            (10_999, Some(5)),
            (11_000, None),
            (9_999, None),
            (0, None),
            (u64::MAX, None),
        ] {
            assert_eq!(answer.at(ticks), ms, "{ticks}");
        }
        assert_eq!(
            Answer::new(time, u64::MAX).at(998),
            Some(5),
            "over the end of the counter"
        );
    }

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
