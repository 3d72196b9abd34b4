//! TSIDs: time-ordered ids of 64 bits.

use core::fmt;
use core::str::{self, FromStr};

use crate::{Error, UnixTime, text};

/// Bits of the node.
pub(crate) const NODE_BITS: u32 = 10;
/// Bits of the counter.
pub(crate) const COUNTER_BITS: u32 = 12;
/// Bits after the milliseconds.
pub(crate) const TAIL_BITS: u32 = NODE_BITS + COUNTER_BITS;
/// Bits of the milliseconds. The 42nd bit of the format is the sign of an integer, and stays 0.
pub(crate) const MS_BITS: u32 = 63 - TAIL_BITS;

/// A time-ordered id of 64 bits, positive as a signed integer: it fits SQLite's `INTEGER PRIMARY KEY` and `BIGINT`.
///
/// | bits | contain |
/// | ---: | --- |
/// | 1 | 0, the sign |
/// | 41 | milliseconds since 2020-01-01T00:00:00Z, until 2089 |
/// | 10 | the node: which process made the id, 0 to 1,023 |
/// | 12 | a counter |
///
/// The layout is that of TSID libraries and, with another epoch, of Snowflake ids. The text form has 13 characters of
/// Crockford's base 32. JavaScript's numbers have 53 bits: pass a TSID to JavaScript as text or as a `BigInt`.
///
/// A TSID has few random bits. Its neighbours can be guessed, and two nodes of the same number can make the same id.
///
/// ```
/// use inorder_key::Tsid;
/// let (a, b) = (Tsid::now(), Tsid::now());
/// assert!(0 < a.to_i64() && a.to_i64() < b.to_i64() && a.to_string() < b.to_string());
/// assert_eq!(Tsid::parse(a.to_text()), Ok(a));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "diesel",
    derive(diesel::expression::AsExpression, diesel::deserialize::FromSqlRow)
)]
#[cfg_attr(feature = "diesel", diesel(sql_type = diesel::sql_types::BigInt))]
#[repr(transparent)]
pub struct Tsid(pub(crate) u64);

impl Tsid {
    /// Length of the text form in characters.
    pub const TEXT_BYTES: usize = 13;
    /// The time of millisecond 0: 2020-01-01T00:00:00Z, in milliseconds since 1970.
    pub const EPOCH_MS: u64 = 1_577_836_800_000;
    /// The last millisecond, in milliseconds since 1970: 2089-09-06T15:47:35.551Z.
    pub const MS_MAX: u64 = Self::EPOCH_MS + (1 << MS_BITS) - 1;
    /// The greatest node.
    pub const NODE_MAX: u16 = (1 << NODE_BITS) - 1;

    /// Creates the TSID of an integer.
    ///
    /// # Errors
    /// [`Error::Negative`] for a negative integer.
    pub const fn from_i64(integer: i64) -> Result<Self, Error> {
        match integer {
            0.. => Ok(Self(integer as u64)),
            _ => Err(Error::Negative { integer }),
        }
    }

    /// Returns the TSID as an integer from 0 on. Integers sort as the ids do.
    #[inline]
    pub const fn to_i64(self) -> i64 {
        self.0 as i64
    }

    /// Creates the TSID of a millisecond since 1970, with these 22 bits after it: node and counter. Higher bits are
    /// ignored.
    ///
    /// # Errors
    /// [`Error::TsidTime`] for a time before 2020 or after 2089.
    pub const fn from_parts(ms: u64, tail: u32) -> Result<Self, Error> {
        if ms < Self::EPOCH_MS || ms > Self::MS_MAX {
            return Err(Tsid::time_error(ms));
        }
        let tail = tail as u64 & ((1 << TAIL_BITS) - 1);
        Ok(Self((ms - Self::EPOCH_MS) << TAIL_BITS | tail))
    }

    pub(crate) const fn time_error(ms: u64) -> Error {
        Error::TsidTime {
            ms,
            min: Self::EPOCH_MS,
            max: Self::MS_MAX,
        }
    }

    /// Returns the least TSID of this millisecond since 1970.
    ///
    /// # Errors
    /// [`Error::TsidTime`] for a time before 2020 or after 2089.
    pub const fn first_at(ms: u64) -> Result<Self, Error> {
        Self::from_parts(ms, 0)
    }

    /// Returns the greatest TSID of this millisecond since 1970.
    ///
    /// # Errors
    /// [`Error::TsidTime`] for a time before 2020 or after 2089.
    pub const fn last_at(ms: u64) -> Result<Self, Error> {
        Self::from_parts(ms, u32::MAX)
    }

    /// Returns the milliseconds since 1970-01-01T00:00:00Z.
    #[inline]
    pub const fn ms(self) -> u64 {
        (self.0 >> TAIL_BITS) + Self::EPOCH_MS
    }

    /// Returns the node, 0 to [`Tsid::NODE_MAX`].
    pub const fn node(self) -> u16 {
        (self.0 >> COUNTER_BITS) as u16 & Self::NODE_MAX
    }

    /// Returns the counter, 0 to 4,095.
    pub const fn counter(self) -> u16 {
        self.0 as u16 & ((1 << COUNTER_BITS) - 1)
    }

    /// Reads the text form in upper or lower case.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Character`] or [`Error::TooLarge`].
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self, Error> {
        text::read_tsid(text.as_ref()).map(Self)
    }

    /// Returns the text form in ASCII, without allocation.
    #[inline]
    pub fn to_text(self) -> [u8; Self::TEXT_BYTES] {
        let mut out = [0; Self::TEXT_BYTES];
        text::write_tsid(self.0, &mut out);
        out
    }
}

impl fmt::Display for Tsid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(str::from_utf8(&self.to_text()).expect("ASCII"))
    }
}

impl fmt::Debug for Tsid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tsid({self})")
    }
}

impl FromStr for Tsid {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl TryFrom<i64> for Tsid {
    type Error = Error;

    fn try_from(integer: i64) -> Result<Self, Error> {
        Self::from_i64(integer)
    }
}

impl From<Tsid> for i64 {
    fn from(id: Tsid) -> i64 {
        id.to_i64()
    }
}

impl From<Tsid> for UnixTime {
    fn from(id: Tsid) -> Self {
        Self::from_ms(id.ms())
    }
}
