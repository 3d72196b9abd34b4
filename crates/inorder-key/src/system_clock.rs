//! The clock of the system.

use std::cell::Cell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::{Clock, Reading, UnixTime, machine};

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

/// Reads the clock of the system.
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown", feature = "js")))]
#[inline]
fn now() -> UnixTime {
    SystemTime::now().into()
}

/// Reads the clock of JavaScript, which has milliseconds.
#[cfg(all(target_arch = "wasm32", target_os = "unknown", feature = "js"))]
fn now() -> UnixTime {
    UnixTime::from_ms(js_sys::Date::now() as u64)
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
            time: now(),
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
}
