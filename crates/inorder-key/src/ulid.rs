//! ULIDs.

#[cfg(feature = "std")]
use crate::Factory;
use crate::id::define_id;
use crate::time_id::{Numbered, TimeId};
use crate::{Error, UnixTime, Uuid, text};

define_id! {
    /// A ULID: 48 bits of milliseconds since 1970, then 80 random or counted bits. Its text has 26 characters.
    ///
    /// It follows the [ULID specification](https://github.com/ulid/spec).
    ///
    /// ```
    /// use inorder_key::Ulid;
    /// let (a, b) = (Ulid::now(), Ulid::now());
    /// assert!(a < b && a.to_string() < b.to_string() && a.to_bytes() < b.to_bytes());
    /// assert_eq!(Ulid::parse("01arz3ndektsv4rrffq69g5fav").unwrap().ms(), 1_469_922_850_259);
    /// ```
    Ulid, "a ULID", 26, text::write_ulid, text::read_ulid
}

impl Ulid {
    /// Creates a new ULID, greater than all ULIDs that this function has returned in this process, in any thread.
    ///
    /// See [`Factory`].
    ///
    /// # Panics
    /// If the system gives no random bytes.
    #[cfg(feature = "std")]
    #[inline]
    pub fn now() -> Self {
        Factory::process().next()
    }

    /// Creates a new ULID that is also a valid UUIDv7: the 128 bits of [`Uuid::now_v7`], greater than all before.
    ///
    /// Within a millisecond, such ULIDs and those of [`Ulid::now`] have no common order, because six bits are fixed
    /// here. Use only one of both for a column.
    ///
    /// # Panics
    /// If the system gives no random bytes.
    #[cfg(feature = "std")]
    #[inline]
    pub fn now_v7() -> Self {
        Uuid::now_v7().into()
    }

    /// Returns the milliseconds since 1970-01-01T00:00:00Z.
    #[inline]
    pub const fn ms(self) -> u64 {
        (self.to_u128() >> <Self as Numbered>::TAIL_BITS) as u64
    }

    /// Returns the 80 bits after the time.
    #[inline]
    pub const fn tail(self) -> u128 {
        self.to_u128() & ((1 << <Self as Numbered>::TAIL_BITS) - 1)
    }

    /// Returns the next greater ULID.
    ///
    /// # Errors
    /// [`Error::Exhausted`] if the 80 bits after the time are all set, as the ULID specification requires.
    pub const fn successor(self) -> Result<Self, Error> {
        match Self::from_u128(self.to_u128().wrapping_add(1)) {
            next if next.ms() == self.ms() => Ok(next),
            _ => Err(Error::Exhausted),
        }
    }
}

impl Numbered for Ulid {
    const TAIL_BITS: u32 = 80;

    #[inline]
    fn from_number(number: u128) -> Self {
        Self::from_u128(number)
    }
}

impl TimeId for Ulid {}

impl From<Uuid> for Ulid {
    /// Returns the ULID with the same 128 bits.
    fn from(id: Uuid) -> Self {
        Self::from_u128(id.to_u128())
    }
}

impl From<Ulid> for Uuid {
    /// Returns the UUID with the same 128 bits. Its version and variant are arbitrary, but 7 for a ULID of
    /// [`Ulid::now_v7`].
    fn from(id: Ulid) -> Self {
        Self::from_u128(id.to_u128())
    }
}

impl From<Ulid> for UnixTime {
    fn from(id: Ulid) -> Self {
        Self::from_ms(id.ms())
    }
}
