//! The order of time-ordered ids: one addition from the last id to the next.
//!
//! An id is a number here: 48 bits of milliseconds, then the tail. The tail has 80 bits in a ULID and 74 in a UUIDv7,
//! whose version and variant are added when it is written. Every method of RFC 9562 section 6.2 is then one addition.

use crate::rng::KeyRng;
use crate::{Clock, Error, UnixTime};

/// Bits of the milliseconds.
const MS_BITS: u32 = 48;

/// Method that orders the ids of one millisecond (RFC 9562 section 6.2).
///
/// With every method, ids continue from the last one if the clock stands still or is set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Method 1: a counter of 12 to 42 bits after the milliseconds, then new random bits in every id.
    ///
    /// The counter starts each millisecond at a random value with its top bit clear. An id does not reveal the next
    /// one. With more than `2^(bits - 1)` ids per millisecond the counter overflows.
    Counter {
        /// Bits of the counter, 12 to 42.
        bits: u32,
    },
    /// Method 2: a random tail, then random steps of 1 to `2^bits`.
    ///
    /// 0 bits are steps of one, as in the ULID specification. They are fast, but each id reveals the next one.
    RandomStep {
        /// Bits of the step, 0 to 60.
        bits: u32,
    },
    /// Method 3: a fraction of the millisecond in 1 to 12 bits, then the same as [`Method::RandomStep`] with 32 bits.
    ///
    /// It sorts ids of several generators by finer time, if the clock has that resolution.
    Fraction {
        /// Bits of the fraction, 1 to 12: `floor(fraction * 2^bits)`.
        bits: u32,
    },
}

impl Method {
    /// The method of the ULID specification: within a millisecond, the last id plus one.
    pub const ULID_SPEC: Self = Method::RandomStep { bits: 0 };
}

impl Default for Method {
    /// A random step of 32 bits: one addition and four random bytes per id. Guessing the next id takes up to 2^32
    /// attempts. A millisecond has room for 2^41 ids, so a batch never runs ahead of the clock.
    fn default() -> Self {
        Method::RandomStep { bits: 32 }
    }
}

/// Behaviour when a millisecond has no id left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// The ids run ahead of the clock into the next millisecond, as RFC 9562 section 6.2 allows.
    #[default]
    RunAhead,
    /// Ids are refused with [`Error::Exhausted`] until the clock advances, as the ULID specification requires.
    Refuse,
}

/// A [`Method`] as bit masks for a tail of a certain length.
///
/// With every method the id after `last` is `(last | drawn_mask) + 1 + random`. A counter is above random bits that
/// are new in every id, so a carry out of them increments the counter. A step has no bits that are new in every id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    tail_bits: u32,
    /// Bits of time after the milliseconds.
    fraction_bits: u32,
    /// Low bits that are random in every id.
    drawn_mask: u128,
    /// Number of random bits that are added to the last id.
    random_bits: u32,
    /// Top bits of the first tail of a tick that are clear, 1 or 0, so that at least half of all tails follow it.
    guard_bits: u32,
    overflow: Overflow,
}

impl Rules {
    /// # Errors
    /// [`Error::Method`] if the bits of the method are out of its range.
    pub fn new(method: Method, overflow: Overflow, tail_bits: u32) -> Result<Self, Error> {
        let (bits, range) = match method {
            Method::Counter { bits } => (bits, 12..=42),
            Method::RandomStep { bits } => (bits, 0..=60),
            Method::Fraction { bits } => (bits, 1..=12),
        };
        if !range.contains(&bits) {
            let (min, max) = range.into_inner();
            return Err(Error::Method { bits, min, max });
        }
        let (fraction_bits, drawn_bits, random_bits) = match method {
            Method::Counter { bits } => (0, tail_bits - bits, tail_bits - bits),
            Method::RandomStep { bits } => (0, 0, bits),
            Method::Fraction { bits } => (bits, 0, 32),
        };
        Ok(Self {
            tail_bits,
            fraction_bits,
            drawn_mask: (1 << drawn_bits) - 1,
            random_bits,
            guard_bits: u32::from(method != Method::ULID_SPEC),
            overflow,
        })
    }

    /// Returns the tick of a time, at most the last tick. A tick is a fraction of a millisecond or a whole one.
    #[inline]
    fn tick(&self, time: UnixTime) -> u128 {
        let fraction = (u64::from(time.sub_ms_nanos) << self.fraction_bits) / 1_000_000;
        u128::from(time.ms.min(UnixTime::MS_MAX) << self.fraction_bits | fraction)
    }

    /// Returns the first id of a tick.
    #[inline]
    fn first(&self, tick: u128, rng: &mut KeyRng) -> u128 {
        let below = self.tail_bits - self.fraction_bits;
        tick << below | rng.bits(below - self.guard_bits)
    }

    /// Returns the id after `last`. A carry out of the tail increments the milliseconds.
    #[inline]
    fn after(&self, last: u128, rng: &mut KeyRng) -> Result<u128, Error> {
        let limit = match self.overflow {
            Overflow::RunAhead => u128::MAX >> (u128::BITS - MS_BITS - self.tail_bits),
            Overflow::Refuse => last | ((1 << self.tail_bits) - 1),
        };
        (last | self.drawn_mask)
            .checked_add(1 + rng.bits(self.random_bits))
            .filter(|next| *next <= limit)
            .ok_or(Error::Exhausted)
    }
}

/// A strictly increasing sequence of ids.
#[derive(Clone)]
pub(crate) struct Sequence {
    rules: Rules,
    last: Option<u128>,
    /// Generation of the random number generator that made the last id.
    generation: u64,
}

impl Sequence {
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            last: None,
            generation: 0,
        }
    }

    /// Returns the next id, at `now`, or after the last id if the clock has not advanced.
    ///
    /// After a fork, the first id takes a new tail in a tick that the parent has not used. Otherwise parent and child
    /// would continue from the same last id, and equal steps would create equal ids.
    #[inline]
    pub fn next(&mut self, now: UnixTime, rng: &mut KeyRng) -> Result<u128, Error> {
        let rules = &self.rules;
        let now = rules.tick(now);
        let id = match self.last {
            None => rules.first(now, rng),
            Some(last) => {
                let last_tick = last >> (rules.tail_bits - rules.fraction_bits);
                if now > last_tick {
                    rules.first(now, rng)
                } else if self.generation == rng.generation() {
                    rules.after(last, rng)?
                } else if last_tick + 1 < 1 << (MS_BITS + rules.fraction_bits) {
                    rules.first(last_tick + 1, rng)
                } else {
                    return Err(Error::Exhausted);
                }
            }
        };
        self.last = Some(id);
        self.generation = rng.generation();
        Ok(id)
    }

    /// Writes the next ids into `out`, and calls `write` for each.
    #[inline]
    pub fn fill<T>(
        &mut self,
        clock: &mut (impl Clock + ?Sized),
        rng: &mut KeyRng,
        mut out: &mut [T],
        write: impl Fn(u128, &mut T),
    ) -> Result<(), Error> {
        while !out.is_empty() {
            let reading = clock.read(out.len());
            let (now, later) = out.split_at_mut(reading.ids.clamp(1, out.len()));
            let mut last = self.next(reading.time, rng)?;
            let (first, rest) = now.split_first_mut().expect("a reading for an id at least");
            write(last, first);
            let rules = self.rules;
            for out in rest {
                last = rules.after(last, rng)?;
                self.last = Some(last);
                write(last, out);
            }
            out = later;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TAIL_BITS: u32 = 74;

    fn any_method() -> impl Strategy<Value = Method> {
        prop_oneof![
            (12u32..=42).prop_map(|bits| Method::Counter { bits }),
            (0u32..=60).prop_map(|bits| Method::RandomStep { bits }),
            (1u32..=12).prop_map(|bits| Method::Fraction { bits }),
        ]
    }

    fn sequence(method: Method, overflow: Overflow, tail_bits: u32) -> Sequence {
        Sequence::new(Rules::new(method, overflow, tail_bits).unwrap())
    }

    proptest! {
        #[test]
        fn every_method_is_in_order_under_any_clock(
            method in any_method(),
            times in prop::collection::vec((0u64..30, 0u32..1_000_000), 2..200),
            tail_bits in prop::sample::select(vec![TAIL_BITS, 80]),
        ) {
            let mut rng = KeyRng::seeded(1);
            let mut sequence = sequence(method, Overflow::RunAhead, tail_bits);
            let mut last = None;
            for (ms, sub_ms_nanos) in times {
                let time = UnixTime { ms, sub_ms_nanos };
                let id = sequence.next(time, &mut rng).unwrap();
                prop_assert!(Some(id) > last);
                prop_assert!(id >> tail_bits >= u128::from(ms));
                last = Some(id);
            }
        }
    }

    #[test]
    fn a_frozen_clock_makes_a_counter_run_ahead_or_refuse() {
        let method = Method::Counter { bits: 12 };
        let mut rng = KeyRng::seeded(1);
        let mut ahead = sequence(method, Overflow::RunAhead, TAIL_BITS);
        let mut refusing = sequence(method, Overflow::Refuse, TAIL_BITS);
        let now = UnixTime::from_ms(1000);
        let ids: Vec<_> = (0..10_000)
            .map(|_| ahead.next(now, &mut rng).unwrap())
            .collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
        assert!((1002..1004).contains(&(ids[9_999] >> TAIL_BITS)));
        let given = (0..10_000)
            .take_while(|_| refusing.next(now, &mut rng).is_ok())
            .count();
        assert!((2048..4096).contains(&given), "{given}");
        let later = refusing.next(UnixTime::from_ms(1001), &mut rng).unwrap();
        assert_eq!(later >> TAIL_BITS, 1001);
    }

    #[test]
    fn a_fraction_is_the_floor_of_rfc_9562() {
        let rules =
            Rules::new(Method::Fraction { bits: 12 }, Overflow::RunAhead, TAIL_BITS).unwrap();
        let at = |sub_ms_nanos| {
            let time = UnixTime {
                ms: 5,
                sub_ms_nanos,
            };
            rules.tick(time) - (5 << 12)
        };
        assert_eq!(
            [at(0), at(244), at(245), at(500_000), at(999_999)],
            [0, 0, 1, 2048, 4095]
        );
    }

    #[test]
    fn the_last_id_there_is_is_followed_by_an_error() {
        let mut rng = KeyRng::seeded(1);
        for tail_bits in [TAIL_BITS, 80] {
            let mut sequence = sequence(Method::ULID_SPEC, Overflow::RunAhead, tail_bits);
            sequence.last = Some(u128::MAX >> (80 - tail_bits));
            assert!(matches!(
                sequence.next(UnixTime::from_ms(u64::MAX), &mut rng),
                Err(Error::Exhausted)
            ));
        }
    }

    #[test]
    fn bits_out_of_range_are_refused() {
        for method in [
            Method::Counter { bits: 11 },
            Method::Counter { bits: 43 },
            Method::RandomStep { bits: 61 },
            Method::Fraction { bits: 0 },
            Method::Fraction { bits: 13 },
        ] {
            assert!(Rules::new(method, Overflow::RunAhead, TAIL_BITS).is_err());
        }
    }
}
