//! One generator for all threads of a process.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::rng::{self, KeyRng};
use crate::{TimeId, UnixTime, clock};

/// Bits of the counter after the milliseconds.
const COUNTER_BITS: u32 = 16;
/// Bits of its random start in each millisecond: few, so that most of a millisecond's counts are left.
const START_BITS: u32 = 12;
/// Ids of a batch that share one count and one look at the clock.
const BATCH: usize = 256;
/// The time is taken to stand still from here on, two years before 48 bits of milliseconds end in the year 10889: what
/// is left cannot be counted through.
const MS_MAX: u64 = UnixTime::MS_MAX - (1 << 36);

/// A lock-free generator of strictly increasing ids, shared by any number of threads.
///
/// RFC 9562 section 6.2, method 1: 48 bits of milliseconds and a counter of 16 bits are one atomic word, and the bits
/// after it (64 in a ULID, 58 in a UUIDv7) come from a buffered ChaCha8 generator of the thread's own. One atomic
/// addition thus orders the ids of a kind among all threads: one made after another was made is greater. Nobody who knows
/// an id can guess the next.
///
/// - Each millisecond the counter starts at a random value below 2^12.
/// - A clock that stands still or steps back is ignored: the counter goes on from the last id.
/// - A counter that overflows carries into the milliseconds: the ids run ahead of the clock, which takes more than
///   61,440 calls a millisecond. A thread that does nothing else makes some 90,000: ten million in a row end 40 ms ahead,
///   and fall back to the clock once it has caught up. A batch counts once in 256 ids.
/// - The clock is read once a stretch of a millisecond and thread, by the processor's counter in between (x86-64): after
///   the machine has slept, or its clock was set, a thread's ids may have the old time for up to a millisecond more.
/// - Threads that share a factory move one word between processors: an id costs 11 ns in one thread, 29 in each of two.
///   Ranges of counts for each thread would cost less and break the order; [`Factory::fill`] costs less and keeps it.
/// - After a fork the random generators of the child take a new key before their next use, so that parent and child,
///   which count on from the same word, differ in 58 random bits. Only the `fork` of the C library is noticed, not the
///   bare system call, nor the snapshot of a virtual machine.
#[derive(Debug, Default)]
#[repr(align(128))] // Nothing else is in its cache line, nor in the one fetched along.
pub struct Factory {
    /// Milliseconds and counter of the last id.
    last: AtomicU64,
}

impl Factory {
    /// A factory with no ids made.
    pub const fn new() -> Self {
        Self {
            last: AtomicU64::new(0),
        }
    }

    /// The one that [`Ulid::now`](crate::Ulid::now) and [`Uuid::now_v7`](crate::Uuid::now_v7) use.
    #[inline]
    pub fn process() -> &'static Self {
        static PROCESS: Factory = Factory::new();
        &PROCESS
    }

    /// The next id.
    ///
    /// # Panics
    /// If the system gives no random bytes.
    #[inline]
    pub fn next<I: TimeId>(&self) -> I {
        self.next_at(UnixTime::from_ms(clock::now_ms()))
    }

    /// The next id at a time of the caller's, or after the last id if that is later.
    ///
    /// # Panics
    /// If the system gives no random bytes.
    #[inline]
    pub fn next_at<I: TimeId>(&self, time: UnixTime) -> I {
        rng::with(|rng| {
            let drawn_bits = I::TAIL_BITS - COUNTER_BITS;
            let count = u128::from(self.count(time.ms, rng));
            I::from_number(count << drawn_bits | rng.bits(drawn_bits))
        })
    }

    /// Fills `out` with the next ids, which lie together: no other thread's id comes between 256 of them.
    ///
    /// Within those 256, each is the last plus a random step of 1 to 2^32 (method 2).
    ///
    /// # Panics
    /// If the system gives no random bytes.
    pub fn fill<I: TimeId>(&self, out: &mut [I]) {
        let drawn_bits = I::TAIL_BITS - COUNTER_BITS;
        rng::with(|rng| {
            for batch in out.chunks_mut(BATCH) {
                let count = self.count(clock::now_ms(), rng);
                // The top bit stays clear: 256 steps cannot carry into the counter.
                let mut last = u128::from(count) << drawn_bits | rng.bits(drawn_bits - 1);
                for id in batch {
                    *id = I::from_number(last);
                    last += 1 + rng.bits(32);
                }
            }
        });
    }

    /// Milliseconds and counter of the next id.
    #[inline]
    fn count(&self, ms: u64, rng: &mut KeyRng) -> u64 {
        // Adding before looking moves the word between processors once, not twice; a count of a past millisecond is
        // wasted, once a millisecond. Relaxed is enough: this word is all that is shared, and its changes have one order.
        let mut count = self.last.fetch_add(1, Relaxed) + 1;
        let ms = ms.min(MS_MAX);
        while count >> COUNTER_BITS < ms {
            let first = ms << COUNTER_BITS | rng.bits(START_BITS) as u64;
            match self.last.compare_exchange(count, first, Relaxed, Relaxed) {
                Ok(_) => return first,
                Err(_) => count = self.last.fetch_add(1, Relaxed) + 1,
            }
        }
        count
    }
}
