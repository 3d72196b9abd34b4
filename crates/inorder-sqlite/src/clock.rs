//! The millisecond it is, for a third of what the system's clock costs.
//!
//! Ids need no more than the millisecond, and most of those made in one statement share it. So the processor's counter
//! is read first (9 ns, the clock 21): while it says that the millisecond last read cannot have ended, that one is right.
//! It only ever says how long an answer holds, a millisecond at most, so a counter that differs between processors,
//! stops while the machine sleeps or jumps when it moves does no harm; neither does a clock that is set.
#![allow(unsafe_code)]

use inorder_key::{Clock as _, SystemClock, UnixTime};
#[cfg(target_arch = "x86_64")]
use std::cell::Cell;

/// The time, to the millisecond.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn now() -> UnixTime {
    thread_local! {
        static LAST: Cell<Answer> = const { Cell::new(Answer { ms: 0, from: 0, ticks: 0 }) };
    }
    // SAFETY: every x86-64 processor has the counter, and the C library reads the clock by it.
    let from = unsafe { std::arch::x86_64::_rdtsc() };
    LAST.with(|last| {
        let Answer {
            ms,
            from: since,
            ticks,
        } = last.get();
        if from.wrapping_sub(since) < ticks {
            return UnixTime::from_ms(ms);
        }
        let time = SystemClock.read(1).time;
        last.set(Answer::new(time, from));
        UnixTime::from_ms(time.ms)
    })
}

/// Elsewhere the counter is too coarse, or not for everybody to read.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn now() -> UnixTime {
    SystemClock.read(1).time
}

/// What the clock said, and for how long it holds.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct Answer {
    ms: u64,
    /// The counter shortly before the clock was read.
    from: u64,
    /// How far the counter may have gone.
    ticks: u64,
}

#[cfg(target_arch = "x86_64")]
impl Answer {
    /// Until the millisecond ends, were the counter as slow as one a nanosecond. It is two to four times as fast, so
    /// the end is approached in steps: some thirty in a millisecond.
    fn new(time: UnixTime, from: u64) -> Self {
        Self {
            ms: time.ms,
            from,
            ticks: u64::from(1_000_000u32.saturating_sub(time.sub_ms_nanos)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_never_off_by_a_millisecond() {
        let mut wrong = 0;
        for _ in 0..200_000 {
            let (before, now, after) = (SystemClock.read(1), now(), SystemClock.read(1));
            wrong += u32::from(!(before.time.ms..=after.time.ms).contains(&now.ms));
        }
        // None, unless the clock is being set.
        assert!(wrong <= 2, "{wrong} of 200000");
    }
}
