//! Ids that begin with their time.

use crate::{Error, Ulid, UnixTime, Uuid, rng};

/// An id that is 48 bits of milliseconds and a tail, whatever else its layout puts between.
pub trait Numbered: Copy + Ord {
    /// Bits after the milliseconds.
    const TAIL_BITS: u32;

    /// The id of a number with 48 bits of milliseconds and [`Numbered::TAIL_BITS`] more.
    fn from_number(number: u128) -> Self;
}

/// An id that begins with its time: a [`Ulid`], or a [`Uuid`] of version 7.
///
/// Nothing else can implement this trait.
pub trait TimeId: Numbered {
    /// The id of this millisecond with these bits after it: 80 in a ULID, 74 in a UUIDv7; bits above are ignored.
    ///
    /// # Errors
    /// [`Error::Time`] if `ms` does not fit into 48 bits.
    #[inline]
    fn from_parts(ms: u64, tail: u128) -> Result<Self, Error> {
        if ms > UnixTime::MS_MAX {
            return Err(Error::Time { ms: ms.into() });
        }
        let tail = tail & ((1 << Self::TAIL_BITS) - 1);
        Ok(Self::from_number(u128::from(ms) << Self::TAIL_BITS | tail))
    }

    /// The least id of this millisecond, inclusive: `id >= first_at(ms)` selects what was made at `ms` or later.
    ///
    /// # Errors
    /// [`Error::Time`] if `ms` does not fit into 48 bits.
    fn first_at(ms: u64) -> Result<Self, Error> {
        Self::from_parts(ms, 0)
    }

    /// The greatest id of this millisecond, inclusive: `id <= last_at(ms)` selects what was made at `ms` or earlier.
    ///
    /// # Errors
    /// [`Error::Time`] if `ms` does not fit into 48 bits.
    fn last_at(ms: u64) -> Result<Self, Error> {
        Self::from_parts(ms, u128::MAX)
    }

    /// An id of this millisecond, all else random: for rows that are older than their key.
    ///
    /// Two ids of one millisecond stand in no particular order; a [`Generator`](crate::Generator) on a
    /// [`Clock`](crate::Clock) of the caller's keeps one.
    ///
    /// # Errors
    /// [`Error::Time`] if `ms` does not fit into 48 bits.
    ///
    /// # Panics
    /// If the system gives no random bytes.
    fn random_at(ms: u64) -> Result<Self, Error> {
        Self::from_parts(ms, rng::with(|rng| rng.bits(128)))
    }
}

impl TimeId for Ulid {}
impl TimeId for Uuid {}
