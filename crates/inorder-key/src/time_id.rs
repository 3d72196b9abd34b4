//! Ids that begin with their time.

use crate::{Error, UnixTime};

/// An id of 48 bits of milliseconds and a tail.
pub trait Numbered: Copy + Ord {
    /// Number of bits after the milliseconds.
    const TAIL_BITS: u32;

    /// Creates the id from a number with 48 bits of milliseconds and [`Numbered::TAIL_BITS`] more.
    fn from_number(number: u128) -> Self;
}

/// An id that begins with its time: a [`Ulid`](crate::Ulid), or a [`Uuid`](crate::Uuid) of version 7.
///
/// The trait is sealed.
pub trait TimeId: Numbered {
    /// Creates the id of this millisecond with these bits after it: 80 in a ULID, 74 in a UUIDv7. Higher bits are
    /// ignored.
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

    /// Returns the least id of this millisecond: `id >= first_at(ms)` selects ids made at `ms` or later.
    ///
    /// # Errors
    /// [`Error::Time`] if `ms` does not fit into 48 bits.
    fn first_at(ms: u64) -> Result<Self, Error> {
        Self::from_parts(ms, 0)
    }

    /// Returns the greatest id of this millisecond: `id <= last_at(ms)` selects ids made at `ms` or earlier.
    ///
    /// # Errors
    /// [`Error::Time`] if `ms` does not fit into 48 bits.
    fn last_at(ms: u64) -> Result<Self, Error> {
        Self::from_parts(ms, u128::MAX)
    }

    /// Creates an id of this millisecond whose other bits are random, for rows that are older than their key.
    ///
    /// Two ids of one millisecond have no particular order. A [`Generator`](crate::Generator) with the caller's own
    /// [`Clock`](crate::Clock) keeps one.
    ///
    /// # Errors
    /// [`Error::Time`] if `ms` does not fit into 48 bits.
    ///
    /// # Panics
    /// If the system gives no random bytes.
    #[cfg(feature = "std")]
    fn random_at(ms: u64) -> Result<Self, Error> {
        Self::from_parts(ms, crate::rng::with(|rng| rng.bits(128)))
    }
}
