//! Orders in which programs store the 16 bytes of a UUID.

use crate::{UnixTime, Uuid};
use core::ops::RangeInclusive;

/// An order of the 16 bytes of a UUID.
///
/// A program that stores UUIDs in another order than RFC 9562 reads them back as it wrote them. Other programs read
/// UUIDs of random versions, and a UUIDv7 is not in the order of time.
///
/// ```
/// use inorder_key::{ByteOrder, UnixTime, Uuid};
/// let id = Uuid::parse("919108f7-52d1-4320-9bac-f847db4148a8")?;
/// let stored = ByteOrder::DotNet.to_bytes(id);
/// assert_eq!(stored[..8], [0xf7, 0x08, 0x91, 0x91, 0xd1, 0x52, 0x20, 0x43]);
/// assert_eq!(ByteOrder::DotNet.read(stored), id);
/// let now = UnixTime::from_ms(1_750_000_000_000);
/// assert_eq!(ByteOrder::of_values([stored], now), Some(ByteOrder::DotNet));
/// # Ok::<(), inorder_key::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Most significant byte first, as RFC 9562 demands.
    Standard,
    /// The first three groups with the least significant byte first: `Guid.ToByteArray()` of .NET, and
    /// `uniqueidentifier` of SQL Server.
    DotNet,
    /// The third group, the second, the first, then the rest: `UUID_TO_BIN(uuid, 1)` of MySQL. UUIDs of version 1 are
    /// then in the order of time.
    Swapped,
}

/// Share of the values that must be plausible in an order, in percent. Of random bits with the variant of RFC 9562 a
/// quarter is plausible.
const PLAUSIBLE_PERCENT: usize = 90;

impl ByteOrder {
    /// Every order, the most frequent first.
    pub const ALL: [Self; 3] = [Self::Standard, Self::DotNet, Self::Swapped];

    /// Returns the name of the order, such as `UUID_TO_BIN(…, 1)`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "RFC 9562",
            Self::DotNet => ".NET",
            Self::Swapped => "UUID_TO_BIN(…, 1)",
        }
    }

    /// Position in the stored bytes of each byte of the UUID.
    const fn positions(self) -> [usize; 16] {
        match self {
            Self::Standard => [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
            Self::DotNet => [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15],
            Self::Swapped => [4, 5, 6, 7, 2, 3, 0, 1, 8, 9, 10, 11, 12, 13, 14, 15],
        }
    }

    /// Returns the UUID that is stored as these bytes.
    pub fn read(self, stored: [u8; 16]) -> Uuid {
        Uuid::from_bytes(self.positions().map(|at| stored[at]))
    }

    /// Returns the bytes as which a UUID is stored.
    pub fn to_bytes(self, id: Uuid) -> [u8; 16] {
        let mut stored = [0; 16];
        for (at, byte) in self.positions().into_iter().zip(id.to_bytes()) {
            stored[at] = byte;
        }
        stored
    }

    /// Recognises the order of values that are stored together, such as a sample of a column. Returns `None` if they are
    /// not UUIDs in any order.
    ///
    /// Nine of ten values must be UUIDs of version 1 or 3 to 8, those that contain a time from 2000 to a day after `now`.
    /// The nil and the max UUID are ignored. If several orders fit the same number of values, the result is the first of
    /// [`ByteOrder::ALL`]. A single value often fits several; of 20 random values none fit a wrong one.
    pub fn of_values(values: impl IntoIterator<Item = [u8; 16]>, now: UnixTime) -> Option<Self> {
        let (mut plausible, mut values_count) = ([0; 3], 0);
        for stored in values {
            if [Uuid::NIL, Uuid::MAX].contains(&Uuid::from_bytes(stored)) {
                continue;
            }
            values_count += 1;
            for (count, order) in plausible.iter_mut().zip(Self::ALL) {
                *count += usize::from(is_plausible(order.read(stored), now));
            }
        }
        let least = (values_count * PLAUSIBLE_PERCENT).div_ceil(100).max(1);
        let fitting = Self::ALL.into_iter().zip(plausible);
        let fitting = fitting.filter(|(_, count)| *count >= least);
        let best = fitting.reduce(|best, other| if other.1 > best.1 { other } else { best });
        best.map(|(order, _)| order)
    }
}

/// Returns the times that ids have which somebody made, in milliseconds since 1970: 2000 to a day after `now`.
pub(crate) fn plausible_ms(now: UnixTime) -> RangeInclusive<u64> {
    /// 2000-01-01T00:00:00Z: earlier ids are rare.
    const EARLY_MS: u64 = 946_684_800_000;
    /// One day in milliseconds, the tolerated difference between clocks.
    const DAY_MS: u64 = 86_400_000;
    EARLY_MS..=now.ms.saturating_add(DAY_MS)
}

/// Returns whether a UUID has a version of RFC 9562 that programs make, and a plausible time if it contains one.
pub(crate) fn is_plausible(id: Uuid, now: UnixTime) -> bool {
    let has_time = || {
        id.time()
            .is_some_and(|time| plausible_ms(now).contains(&time.ms))
    };
    match id.version() {
        Some(3 | 4 | 5 | 8) => true,
        Some(1 | 6 | 7) => has_time(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: UnixTime = UnixTime::from_ms(1_750_000_000_000);

    /// A UUID of this version, with a time in 2024 if it contains one.
    fn made(version: u8, random: u128) -> Uuid {
        let ms = 1_704_067_200_000 + (random >> 64) as u64 % 31_536_000_000;
        let ticks = u128::from(ms) * 10_000 + 0x01B2_1DD2_1381_4000 + (random >> 100) % 10_000;
        let time = match version {
            1 => (ticks & 0xffff_ffff) << 96 | (ticks >> 32 & 0xffff) << 80 | (ticks >> 48) << 64,
            6 => (ticks >> 12) << 80 | (ticks & 0xfff) << 64,
            7 => u128::from(ms) << 80 | random & 0xfff << 64,
            _ => random & !(u128::from(u64::MAX)),
        };
        let bits = time & !(0xf << 76) | random & u128::from(u64::MAX >> 2);
        Uuid::from_u128(bits | u128::from(version) << 76 | 0b10 << 62)
    }

    #[test]
    fn orders_are_those_of_their_programs() {
        let id = Uuid::parse("00112233-4455-6677-8899-aabbccddeeff").unwrap();
        for (order, stored) in [
            (
                ByteOrder::Standard,
                0x0011_2233_4455_6677_8899_aabb_ccdd_eeff_u128,
            ),
            (ByteOrder::DotNet, 0x3322_1100_5544_7766_8899_aabb_ccdd_eeff),
            (
                ByteOrder::Swapped,
                0x6677_4455_0011_2233_8899_aabb_ccdd_eeff,
            ),
        ] {
            assert_eq!(order.to_bytes(id), stored.to_be_bytes(), "{order:?}");
            assert_eq!(order.read(stored.to_be_bytes()), id, "{order:?}");
        }
    }

    proptest! {
        #[test]
        fn the_order_of_twenty_ids_is_recognised(seed: u64, of in 0..7usize, order in 0..3usize) {
            let mut random = crate::split_mix::SplitMix64::new(seed);
            let (version, order) = ([1, 3, 4, 5, 6, 7, 8][of], ByteOrder::ALL[order]);
            let mut bits = || u128::from(random.bits()) << 64 | u128::from(random.bits());
            let mut stored: Vec<_> = (0..20).map(|_| order.to_bytes(made(version, bits()))).collect();
            stored.extend([[0; 16], [0xff; 16]]);
            prop_assert_eq!(ByteOrder::of_values(stored.iter().copied(), NOW), Some(order));
            // Old rows of version 4, and a damaged one.
            stored.extend((0..20).map(|_| order.to_bytes(made(4, bits()))));
            stored.push([0xee; 16]);
            prop_assert_eq!(ByteOrder::of_values(stored, NOW), Some(order));
        }

        #[test]
        fn other_ids_have_no_order(seed: u64) {
            let mut random = crate::split_mix::SplitMix64::new(seed);
            let mut bits = || u128::from(random.bits()) << 64 | u128::from(random.bits());
            let tokens: Vec<_> = (0..20).map(|_| bits().to_be_bytes()).collect();
            let ulids = tokens.iter().map(|token| (u128::from_be_bytes(*token) >> 48 | 1_700_000_000_000 << 80).to_be_bytes());
            prop_assert_eq!(ByteOrder::of_values(ulids, NOW), None);
            prop_assert_eq!(ByteOrder::of_values(tokens, NOW), None);
        }
    }

    #[test]
    fn no_values_have_no_order() {
        assert_eq!(ByteOrder::of_values([], NOW), None);
        assert_eq!(ByteOrder::of_values([[0; 16], [0xff; 16]], NOW), None);
    }
}
