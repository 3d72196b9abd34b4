//! UUIDs.

use crate::id::define_id;
use crate::time_id::{Numbered, TimeId};
#[cfg(feature = "std")]
use crate::{Factory, rng};
use crate::{UnixTime, text};

define_id! {
    /// A UUID of any version: 16 bytes. Its text has 36 characters.
    ///
    /// It follows [RFC 9562](https://www.rfc-editor.org/rfc/rfc9562). This crate makes versions 4 and 7, and reads
    /// all versions.
    ///
    /// ```
    /// use inorder_key::Uuid;
    /// let (a, b) = (Uuid::now_v7(), Uuid::now_v7());
    /// assert!(a < b && a.to_string() < b.to_string());
    /// assert_eq!(a.version(), Some(7));
    /// ```
    Uuid, "a UUID", 36, text::write_uuid, text::read_uuid
}

/// Number of bits after the version 7 and the variant: rand_b of RFC 9562 section 5.7.
const RAND_B_BITS: u32 = 62;
/// Intervals of 100 ns from the Gregorian reform to 1970, as in versions 1 and 6 (RFC 9562 section 5.1).
const GREGORIAN_TO_UNIX: u64 = 0x01B2_1DD2_1381_4000;

impl Uuid {
    /// Creates a new UUIDv7 (RFC 9562 section 5.7), greater than all UUIDs that this function has returned in this
    /// process, in any thread.
    ///
    /// See [`Factory`].
    ///
    /// # Panics
    /// If the system gives no random bytes.
    #[cfg(feature = "std")]
    #[inline]
    pub fn now_v7() -> Self {
        Factory::process().next()
    }

    /// Creates a new UUIDv4 with 122 random bits (RFC 9562 section 5.4).
    ///
    /// # Panics
    /// If the system gives no random bytes.
    #[cfg(feature = "std")]
    #[inline]
    pub fn new_v4() -> Self {
        rng::with(|rng| Self::v4_of(rng.bits(128)))
    }

    /// Fills `out` with new UUIDv4.
    ///
    /// # Panics
    /// If the system gives no random bytes.
    #[cfg(feature = "std")]
    pub fn fill_v4(out: &mut [Self]) {
        rng::with(|rng| {
            out.iter_mut()
                .for_each(|id| *id = Self::v4_of(rng.bits(128)))
        });
    }

    /// Creates the UUIDv4 from these random bits. Version and variant replace six of them.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) const fn v4_of(random: u128) -> Self {
        Self::from_u128(random & !(0xf << 76 | 0b11 << 62) | 0x4 << 76 | 0b10 << 62)
    }

    /// Returns the version, 0 to 15, or `None` if the variant is not that of RFC 9562 (section 4.1).
    #[inline]
    pub const fn version(self) -> Option<u8> {
        match self.to_u128() >> 62 & 0b11 {
            0b10 => Some((self.to_u128() >> 76 & 0xf) as u8),
            _ => None,
        }
    }

    /// Returns the milliseconds since 1970-01-01T00:00:00Z of a UUIDv7, or `None` for any other UUID.
    #[inline]
    pub const fn ms(self) -> Option<u64> {
        match self.version() {
            Some(7) => Some((self.to_u128() >> 80) as u64),
            _ => None,
        }
    }

    /// Returns the time in a UUID of version 1, 6 or 7, or `None` for any other UUID, and for a time before 1970.
    pub fn time(self) -> Option<UnixTime> {
        let part = |lowest: u32, bits: u32| (self.to_u128() >> lowest) as u64 & ((1 << bits) - 1);
        let ticks = match self.version()? {
            1 => part(64, 12) << 48 | part(80, 16) << 32 | part(96, 32),
            6 => part(96, 32) << 28 | part(80, 16) << 12 | part(64, 12),
            _ => return self.ms().map(UnixTime::from_ms),
        };
        let ticks = ticks.checked_sub(GREGORIAN_TO_UNIX)?;
        Some(UnixTime {
            ms: ticks / 10_000,
            sub_ms_nanos: (ticks % 10_000) as u32 * 100,
        })
    }
}

impl Numbered for Uuid {
    const TAIL_BITS: u32 = 74;

    /// Sets version 7 and the variant (RFC 9562 section 5.7).
    #[inline]
    fn from_number(number: u128) -> Self {
        let rand_b = number & ((1 << RAND_B_BITS) - 1);
        let rand_a = (number >> RAND_B_BITS) & 0xfff;
        let ms = number >> Self::TAIL_BITS;
        Self::from_u128(ms << 80 | 0x7 << 76 | rand_a << 64 | 0b10 << 62 | rand_b)
    }
}

impl TimeId for Uuid {}
