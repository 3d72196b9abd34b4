//! Rate limits of attempts, in bounded memory.

use crate::{Error, Result};
use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Callers that are remembered; when more come, those go first that have tried least.
const CALLERS_MAX: usize = 10_000;

/// Allows so many tries at once, and one more each time an interval has passed.
pub struct Limit<K> {
    tries_max: u32,
    interval: Duration,
    /// The time at which each caller has all attempts again.
    callers: Mutex<HashMap<K, Instant>>,
}

impl<K: Hash + Eq> Limit<K> {
    /// A limit of `tries_max` at once, and one each `interval`.
    pub fn new(tries_max: u32, interval: Duration) -> Self {
        Limit {
            tries_max,
            interval,
            callers: Mutex::default(),
        }
    }

    /// Counts a try.
    ///
    /// # Errors
    /// [`Error::TooMany`], saying how long to wait; the try doesn't count then.
    pub fn count(&self, caller: K) -> Result<()> {
        self.count_at(caller, Instant::now())
    }

    fn count_at(&self, caller: K, now: Instant) -> Result<()> {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if callers.len() >= CALLERS_MAX && !callers.contains_key(&caller) {
            make_room(&mut callers, now);
        }
        let full = callers.get(&caller).copied().unwrap_or(now).max(now) + self.interval;
        let allowed = now + self.interval * self.tries_max;
        if full > allowed {
            return Err(Error::TooMany((full - allowed).as_secs() + 1));
        }
        callers.insert(caller, full);
        Ok(())
    }
}

/// Removes callers without recent attempts, or if there are none, the half with the fewest.
fn make_room<K: Hash + Eq>(callers: &mut HashMap<K, Instant>, now: Instant) {
    callers.retain(|_, full| *full > now);
    if callers.len() >= CALLERS_MAX {
        let mut times: Vec<Instant> = callers.values().copied().collect();
        let (_, &mut middle, _) = times.select_nth_unstable(CALLERS_MAX / 2);
        callers.retain(|_, full| *full > middle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_run_out_and_come_back() {
        let limit = Limit::new(3, Duration::from_secs(60));
        let start = Instant::now();
        let tried = |seconds| {
            limit
                .count_at("a", start + Duration::from_secs(seconds))
                .is_ok()
        };
        assert_eq!(
            [0, 1, 2, 3, 59, 61, 62, 121].map(tried),
            [true, true, true, false, false, true, false, true]
        );
        assert!(limit.count_at("b", start).is_ok());
        let wait = limit
            .count_at("a", start + Duration::from_secs(125))
            .unwrap_err();
        assert!(matches!(wait, Error::TooMany(56)), "{wait}");
    }

    #[test]
    fn memory_is_bounded_and_who_tried_most_is_remembered() {
        let limit = Limit::new(3, Duration::from_secs(60));
        let now = Instant::now();
        for _ in 0..3 {
            limit.count_at(0, now).unwrap();
        }
        for caller in 1..3 * CALLERS_MAX {
            limit.count_at(caller, now).unwrap();
        }
        assert!(limit.callers.lock().unwrap().len() <= CALLERS_MAX);
        assert!(limit.count_at(0, now).is_err());
    }
}
