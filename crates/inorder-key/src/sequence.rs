//! The order of time-ordered ids: one step from the last id to the next.
//!
//! An id is seen here as a plain number: 48 bits of milliseconds, then the tail (80 bits in a ULID, 74 in a UUIDv7, whose
//! version and variant are put in when it is written). Every method of RFC 9562 section 6.2 is then one addition.

use crate::rng::Rng;
use crate::{Error, UnixTime};

/// Bits after the milliseconds of a ULID.
pub(crate) const ULID_TAIL_BITS: u32 = 80;
/// Bits after the milliseconds of a UUIDv7, without version and variant.
pub(crate) const UUID7_TAIL_BITS: u32 = 74;

/// How ids of one millisecond follow each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Bits after the milliseconds.
    pub tail_bits: u32,
    /// Low bits drawn afresh for every id; the step is added above them.
    pub fresh_bits: u32,
    /// The step is 1 to 2^`step_bits`.
    pub step_bits: u32,
    /// Whether the first tail of a millisecond has its top bit clear, so that half of all tails follow it.
    pub is_guarded: bool,
}

impl Rules {
    /// The ULID specification: a random tail, then one more each time.
    pub const ULID: Self = Self {
        tail_bits: ULID_TAIL_BITS,
        fresh_bits: 0,
        step_bits: 0,
        is_guarded: false,
    };

    /// RFC 9562 section 6.2 method 1: a counter of 16 bits, then random bits.
    pub const UUID7: Self = Self {
        tail_bits: UUID7_TAIL_BITS,
        fresh_bits: UUID7_TAIL_BITS - 16,
        step_bits: 0,
        is_guarded: true,
    };
}

/// A strictly increasing sequence of ids.
#[derive(Clone)]
pub(crate) struct Sequence {
    rules: Rules,
    last: Option<u128>,
}

impl Sequence {
    pub fn new(rules: Rules) -> Self {
        Self { rules, last: None }
    }

    /// The id after the last one, at `now` or, where the clock has not moved on, after it.
    #[inline]
    pub fn next(&mut self, now: UnixTime, rng: &mut Rng) -> Result<u128, Error> {
        let Rules { tail_bits, .. } = self.rules;
        let ms = u128::from(now.ms.min(UnixTime::MS_MAX));
        let id = match self.last {
            Some(last) if ms <= last >> tail_bits => self.after(last, rng)?,
            _ => self.first(ms, rng),
        };
        self.last = Some(id);
        Ok(id)
    }

    #[inline]
    fn first(&self, ms: u128, rng: &mut Rng) -> u128 {
        let Rules {
            tail_bits,
            is_guarded,
            ..
        } = self.rules;
        let tail = rng.next_u128() >> (128 - tail_bits + u32::from(is_guarded));
        ms << tail_bits | tail
    }

    /// The carry out of the tail runs into the milliseconds: the sequence runs ahead of the clock.
    #[inline]
    fn after(&self, last: u128, rng: &mut Rng) -> Result<u128, Error> {
        let Rules {
            tail_bits,
            fresh_bits,
            step_bits,
            ..
        } = self.rules;
        let step = match step_bits {
            0 => 1,
            bits => u128::from(rng.next_u64() >> (64 - bits)) + 1,
        };
        let fresh = match fresh_bits {
            0 => 0,
            bits @ 1..=64 => u128::from(rng.next_u64() >> (64 - bits)),
            bits => rng.next_u128() >> (128 - bits),
        };
        let next_max = u128::MAX >> (ULID_TAIL_BITS - tail_bits + fresh_bits);
        match (last >> fresh_bits).checked_add(step) {
            Some(next) if next <= next_max => Ok(next << fresh_bits | fresh),
            _ => Err(Error::Exhausted),
        }
    }
}

/// Puts version 7 and the variant into a number of 122 bits (RFC 9562 section 5.7).
#[inline]
pub(crate) const fn with_version_7(id: u128) -> u128 {
    const RAND_B_BITS: u32 = 62;
    let rand_b = id & ((1 << RAND_B_BITS) - 1);
    let rand_a = (id >> RAND_B_BITS) & 0xfff;
    let ms = id >> UUID7_TAIL_BITS;
    ms << 80 | 0x7 << 76 | rand_a << 64 | 0b10 << 62 | rand_b
}

/// Puts version 4 and the variant over random bits (RFC 9562 section 5.4).
#[inline]
pub(crate) const fn with_version_4(random: u128) -> u128 {
    random & !(0xf << 76 | 0b11 << 62) | 0x4 << 76 | 0b10 << 62
}
