//! A generator of TSIDs, shared by all threads of a process.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::rng::{self, KeyRng};
use crate::tsid::{COUNTER_BITS, MS_BITS, NODE_BITS, TAIL_BITS};
use crate::{Error, Tsid, UnixTime, system_clock};

/// Bits of the counter's random start in each millisecond: at least 2,048 of its 4,096 values follow.
const START_BITS: u32 = COUNTER_BITS - 1;
impl Tsid {
    /// Creates a new TSID, greater than all TSIDs that this function has returned in this process, in any thread.
    ///
    /// The node is drawn at random, once per process. See [`TsidFactory`].
    ///
    /// # Panics
    /// Where [`TsidFactory::try_next`] fails, and if the system gives no random bytes.
    #[inline]
    pub fn now() -> Self {
        TsidFactory::process().next()
    }
}

/// Milliseconds for which a factory waits. A clock that lags further behind the last id was set back.
const WAIT_MS_MAX: u64 = 100;

/// A lock-free generator of strictly increasing TSIDs, shared by any number of threads.
///
/// - Each millisecond the counter starts at a random value below 2,048, so that ids modulo a number of shards are
///   spread.
/// - A millisecond has 2,048 to 4,096 ids. After them the factory waits for the next one. A process that starts again
///   with the same node therefore makes other ids.
/// - If the clock is set back by more than 100 ms, the ids continue from the last one, without waiting.
/// - Give each process its own node. Nodes that are drawn at random differ for two processes with a probability of
///   1,023 in 1,024; processes with the same node make the same id if time and counter are equal too.
#[derive(Debug)]
#[repr(align(128))] // Nothing else is in its cache line, nor in the one fetched along.
pub struct TsidFactory {
    /// Milliseconds since 2020 and counter of the last id.
    last: AtomicU64,
    /// The node, and in the higher bits the generation of the process that drew it, 0 for a given node.
    node: AtomicU64,
    is_node_given: bool,
}

impl TsidFactory {
    /// Creates a factory that has made no ids.
    ///
    /// # Errors
    /// [`Error::Node`] if the node is greater than [`Tsid::NODE_MAX`].
    pub const fn new(node: u16) -> Result<Self, Error> {
        if node > Tsid::NODE_MAX {
            return Err(Error::Node {
                node,
                max: Tsid::NODE_MAX,
            });
        }
        Ok(Self {
            last: AtomicU64::new(0),
            node: AtomicU64::new(node as u64),
            is_node_given: true,
        })
    }

    /// Creates a factory that draws its node at the first id, and again in the child of a fork.
    pub const fn with_random_node() -> Self {
        Self {
            last: AtomicU64::new(0),
            node: AtomicU64::new(0),
            is_node_given: false,
        }
    }

    /// The factory of [`Tsid::now`].
    #[inline]
    pub fn process() -> &'static Self {
        static PROCESS: TsidFactory = TsidFactory::with_random_node();
        &PROCESS
    }

    /// Returns the next TSID. Waits for the clock if the millisecond has none left.
    ///
    /// # Panics
    /// Where [`TsidFactory::try_next`] fails, and if the system gives no random bytes.
    #[inline]
    pub fn next(&self) -> Tsid {
        self.try_next().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the next TSID. Waits for the clock if the millisecond has none left.
    ///
    /// # Errors
    /// [`Error::TsidTime`] while the clock is before 2020 and the factory has made no id, and after 2089, also if the ids
    /// run ahead of the clock until there.
    ///
    /// # Panics
    /// If the system gives no random bytes.
    #[inline]
    pub fn try_next(&self) -> Result<Tsid, Error> {
        loop {
            let ms = self.clock_after(system_clock::now_ms());
            if let Some(id) = rng::with(|rng| self.after(ms, WAIT_MS_MAX, rng))? {
                return Ok(id);
            }
            std::thread::yield_now();
        }
    }

    /// The time of the clock. One that was set back before 2020 is as good as any, because the ids continue from the last one.
    #[inline]
    fn clock_after(&self, ms: u64) -> u64 {
        match self.last.load(Relaxed) {
            0 => ms,
            _ => ms.max(Tsid::EPOCH_MS),
        }
    }

    /// Returns the next TSID at this time, or the one after the last if that is later. It does not wait: the ids run
    /// ahead of the time.
    ///
    /// # Errors
    /// [`Error::TsidTime`] for a time before 2020 or after 2089, also if the ids run ahead of the time until there.
    ///
    /// # Panics
    /// If the system gives no random bytes.
    pub fn next_at(&self, time: UnixTime) -> Result<Tsid, Error> {
        rng::with(|rng| self.next_ahead(time.ms, rng))
    }

    /// [`TsidFactory::next_at`] with another random generator.
    pub(crate) fn next_ahead(&self, ms: u64, rng: &mut KeyRng) -> Result<Tsid, Error> {
        self.after(ms, 0, rng)?.ok_or(Error::Exhausted)
    }

    /// Returns the id after the last one, or `None` if it is at most `wait_ms_max` ahead of the time.
    #[inline]
    fn after(&self, ms: u64, wait_ms_max: u64, rng: &mut KeyRng) -> Result<Option<Tsid>, Error> {
        if !(Tsid::EPOCH_MS..=Tsid::MS_MAX).contains(&ms) {
            return Err(Tsid::time_error(ms));
        }
        let now = ms - Tsid::EPOCH_MS;
        let mut last = self.last.load(Relaxed);
        loop {
            let next = match last >> COUNTER_BITS < now {
                true => now << COUNTER_BITS | rng.bits(START_BITS) as u64,
                false => last + 1,
            };
            let ms = next >> COUNTER_BITS;
            if ms >> MS_BITS != 0 {
                return Err(Tsid::time_error(Tsid::MS_MAX + 1));
            }
            if ms > now && ms - now <= wait_ms_max {
                return Ok(None);
            }
            // Relaxed is enough: this word is all that is shared, and its changes have one order.
            match self
                .last
                .compare_exchange_weak(last, next, Relaxed, Relaxed)
            {
                Ok(_) => {
                    let counter = next & ((1 << COUNTER_BITS) - 1);
                    let node = self.node(rng) << COUNTER_BITS;
                    return Ok(Some(Tsid(ms << TAIL_BITS | node | counter)));
                }
                Err(other) => last = other,
            }
        }
    }

    /// Returns the node, and draws it if this process has not.
    #[inline]
    fn node(&self, rng: &mut KeyRng) -> u64 {
        let stored = self.node.load(Relaxed);
        let generation = rng.generation() << NODE_BITS;
        if self.is_node_given || stored >> NODE_BITS == generation >> NODE_BITS {
            return stored & u64::from(Tsid::NODE_MAX);
        }
        let drawn = generation | rng.bits(NODE_BITS) as u64;
        let node = match self.node.compare_exchange(stored, drawn, Relaxed, Relaxed) {
            Ok(_) => drawn,
            Err(other) => other,
        };
        node & u64::from(Tsid::NODE_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2024-01-01T00:00:00Z.
    const MS: u64 = 1_704_067_200_000;

    #[test]
    fn a_full_millisecond_waits_and_a_clock_set_back_does_not() {
        let factory = TsidFactory::new(7).unwrap();
        let mut rng = KeyRng::seeded(1);
        let mut made = Vec::new();
        while let Some(id) = factory.after(MS, WAIT_MS_MAX, &mut rng).unwrap() {
            made.push(id);
        }
        assert!((2048..=4096).contains(&made.len()), "{}", made.len());
        assert!(made.is_sorted_by(|a, b| a < b));
        assert!(made.iter().all(|id| id.ms() == MS && id.node() == 7));
        let mut at = |ms| factory.after(ms, WAIT_MS_MAX, &mut rng).unwrap();
        assert_eq!(at(MS - WAIT_MS_MAX + 1), None);
        let later = at(MS - 1000).expect("a clock set back is not waited for");
        assert_eq!((later.ms(), later.counter()), (MS + 1, 0));
        assert_eq!(at(MS), None);
        assert!(at(MS + 2) > Some(later));
    }

    #[test]
    fn a_clock_before_2020_is_an_error_for_the_first_id_only() {
        let factory = TsidFactory::new(7).unwrap();
        let mut rng = KeyRng::seeded(1);
        let mut at = |ms| factory.after(factory.clock_after(ms), WAIT_MS_MAX, &mut rng);
        assert_eq!(at(5023), Err(Tsid::time_error(5023)));
        let first = at(MS).unwrap();
        let next = at(5023)
            .unwrap()
            .expect("a clock set back is not waited for");
        assert!(Some(next) > first && next.ms() == MS);
    }

    #[test]
    fn the_last_id_there_is_is_followed_by_an_error() {
        let factory = TsidFactory::with_random_node();
        let mut rng = KeyRng::seeded(1);
        let mut last = factory.next_ahead(Tsid::MS_MAX, &mut rng).unwrap();
        let error = loop {
            match factory.next_ahead(Tsid::MS_MAX, &mut rng) {
                Ok(next) => last = last.max(next),
                Err(error) => break error,
            }
        };
        let after_all = Tsid::time_error(Tsid::MS_MAX + 1);
        assert_eq!((last.counter(), &error), (4095, &after_all));
        assert_eq!(
            factory.next_ahead(Tsid::MS_MAX + 1, &mut rng),
            Err(Tsid::time_error(Tsid::MS_MAX + 1))
        );
    }
}
