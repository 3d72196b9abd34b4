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
    /// The node is the value of the variable `INORDER_NODE`, or is drawn at random, once per process. See
    /// [`TsidFactory::process`].
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
/// - Give each process its own node. Of nodes that are drawn at random, two are the same with a probability of 1 in 1,024
///   for 2 processes, 11% for 16, 39% for 32 and 87% for 64. Processes with the same node make the same id if time and
///   counter are equal too.
#[derive(Debug)]
#[repr(align(128))] // Nothing else is in its cache line, nor in the one fetched along.
pub struct TsidFactory {
    /// Milliseconds since 2020 and counter of the last id.
    last: AtomicU64,
    /// The node, a bit that says whether it is that of the variable, and in the higher bits the generation of the process
    /// that chose it, 0 for a given node.
    node: AtomicU64,
    source: NodeSource,
}

/// Where the node of a factory comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeSource {
    Given,
    Random,
    /// The variable `INORDER_NODE`, or random.
    Variable,
}

/// The variable that sets the node of the process.
const NODE_VARIABLE: &str = "INORDER_NODE";
/// Bits of [`TsidFactory::node`] below the generation.
const GENERATION_SHIFT: u32 = NODE_BITS + 1;
/// Set if the stored node is that of the variable.
const IS_OF_VARIABLE: u64 = 1 << NODE_BITS;

impl TsidFactory {
    /// Creates a factory that has made no ids.
    ///
    /// # Errors
    /// [`Error::Node`] if the node is greater than [`Tsid::NODE_MAX`].
    pub const fn new(node: u16) -> Result<Self, Error> {
        if node > Tsid::NODE_MAX {
            return Err(Error::Node {
                node: node as i64,
                max: Tsid::NODE_MAX,
            });
        }
        Ok(Self {
            last: AtomicU64::new(0),
            node: AtomicU64::new(node as u64),
            source: NodeSource::Given,
        })
    }

    /// Creates a factory that draws its node at the first id, and again in the child of a fork.
    pub const fn with_random_node() -> Self {
        Self {
            last: AtomicU64::new(0),
            node: AtomicU64::new(0),
            source: NodeSource::Random,
        }
    }

    /// The factory of [`Tsid::now`].
    ///
    /// Its node is the value of the variable `INORDER_NODE`, which it reads at the first id. Without the variable it draws
    /// the node at random. The child of a fork draws another one; if the node was that of the variable, the child fails with
    /// [`Error::NodeOfParent`].
    #[inline]
    pub fn process() -> &'static Self {
        static PROCESS: TsidFactory = TsidFactory {
            source: NodeSource::Variable,
            ..TsidFactory::with_random_node()
        };
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
    /// run ahead of the clock until there. [`Error::NodeText`] and [`Error::NodeOfParent`] where the node is that of
    /// `INORDER_NODE`.
    ///
    /// # Panics
    /// If the system gives no random bytes.
    #[inline]
    pub fn try_next(&self) -> Result<Tsid, Error> {
        self.wait_for_next(None)
    }

    /// Returns the next TSID with this node, as [`TsidFactory::try_next`]. The ids of one node are in order; all ids of the
    /// factory differ.
    ///
    /// # Errors
    /// [`Error::Node`] if the node is greater than [`Tsid::NODE_MAX`], and [`Error::TsidTime`].
    ///
    /// # Panics
    /// If the system gives no random bytes.
    pub fn try_next_of(&self, node: u16) -> Result<Tsid, Error> {
        Self::new(node)?;
        self.wait_for_next(Some(node.into()))
    }

    #[inline]
    fn wait_for_next(&self, node: Option<u64>) -> Result<Tsid, Error> {
        loop {
            let ms = self.clock_after(system_clock::now_ms());
            let id = rng::with(|rng| {
                let node = node.map_or_else(|| self.node(rng), Ok)?;
                self.after(ms, WAIT_MS_MAX, node, rng)
            })?;
            if let Some(id) = id {
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
        let node = self.node(rng)?;
        self.after(ms, 0, node, rng)?.ok_or(Error::Exhausted)
    }

    /// Returns the id after the last one, or `None` if it is at most `wait_ms_max` ahead of the time.
    #[inline]
    fn after(
        &self,
        ms: u64,
        wait_ms_max: u64,
        node: u64,
        rng: &mut KeyRng,
    ) -> Result<Option<Tsid>, Error> {
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
                    return Ok(Some(Tsid(ms << TAIL_BITS | node << COUNTER_BITS | counter)));
                }
                Err(other) => last = other,
            }
        }
    }

    /// Returns the node, and chooses it if this process has not.
    #[inline]
    fn node(&self, rng: &mut KeyRng) -> Result<u64, Error> {
        let stored = self.node.load(Relaxed);
        let is_chosen =
            stored >> GENERATION_SHIFT << GENERATION_SHIFT == rng.generation() << GENERATION_SHIFT;
        match self.source == NodeSource::Given || is_chosen {
            true => Ok(stored & u64::from(Tsid::NODE_MAX)),
            false => self.choose_node(stored, rng),
        }
    }

    #[cold]
    fn choose_node(&self, stored: u64, rng: &mut KeyRng) -> Result<u64, Error> {
        if stored & IS_OF_VARIABLE != 0 {
            let node = stored as u16 & Tsid::NODE_MAX;
            return Err(Error::NodeOfParent { node });
        }
        let chosen = match self.source {
            NodeSource::Variable => {
                node_of_variable()?.map(|node| u64::from(node) | IS_OF_VARIABLE)
            }
            _ => None,
        };
        let chosen = chosen.unwrap_or_else(|| rng.bits(NODE_BITS) as u64);
        let chosen = rng.generation() << GENERATION_SHIFT | chosen;
        let node = match self.node.compare_exchange(stored, chosen, Relaxed, Relaxed) {
            Ok(_) => chosen,
            Err(other) => other,
        };
        Ok(node & u64::from(Tsid::NODE_MAX))
    }
}

/// Reads the variable that sets the node of the process.
fn node_of_variable() -> Result<Option<u16>, Error> {
    let Some(text) = std::env::var_os(NODE_VARIABLE).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let text = text.to_string_lossy().into_owned();
    let node = text.parse().ok().filter(|node| *node <= Tsid::NODE_MAX);
    let max = Tsid::NODE_MAX;
    node.map(Some).ok_or(Error::NodeText { text, max })
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
        while let Some(id) = factory.after(MS, WAIT_MS_MAX, 7, &mut rng).unwrap() {
            made.push(id);
        }
        assert!((2048..=4096).contains(&made.len()), "{}", made.len());
        assert!(made.is_sorted_by(|a, b| a < b));
        assert!(made.iter().all(|id| id.ms() == MS && id.node() == 7));
        let mut at = |ms| factory.after(ms, WAIT_MS_MAX, 7, &mut rng).unwrap();
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
        let mut at = |ms| factory.after(factory.clock_after(ms), WAIT_MS_MAX, 7, &mut rng);
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
