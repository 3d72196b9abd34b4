//! Ids that other programs make and this crate only reads: ObjectId, KSUID, Snowflake ids, and what a value could be.

use alloc::string::String;
use alloc::vec::Vec;

use crate::{Tsid, UnixTime, Uuid};

/// An id that a value could be in another format than the one in which it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Description of the id: `UUID version 4 in the byte order of .NET`.
    pub name: String,
    /// Time of creation, if the id contains it.
    pub time: Option<UnixTime>,
    /// The UUID, if it is one.
    pub uuid: Option<Uuid>,
}

/// Bytes of an ObjectId.
pub(crate) const OBJECT_ID_BYTES: usize = 12;

/// Characters of a KSUID.
const KSUID_CHARS: usize = 27;
/// Seconds from 1970 to second 0 of a KSUID, 2014-05-13T16:53:20Z (<https://github.com/segmentio/ksuid>).
const KSUID_EPOCH_SECONDS: u64 = 1_400_000_000;
/// The digits of a KSUID, in ASCII order.
const BASE_62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Formats of integers with 41 bits of milliseconds, then 22 bits, and the milliseconds from 1970 to their millisecond 0.
const SNOWFLAKES: [(&str, u64); 3] = [
    ("TSID", Tsid::EPOCH_MS),
    ("Snowflake of Twitter", 1_288_834_974_657),
    ("Snowflake of Discord", 1_420_070_400_000),
];
/// Bits after the milliseconds of a Snowflake id.
const SNOWFLAKE_TAIL_BITS: u32 = 22;
/// Lower integers are counts or times. An id of this size was made in the third hour of its epoch.
const SNOWFLAKE_MIN: i64 = 1 << 45;

/// Returns the time of an ObjectId, four bytes of seconds since 1970, and its 96 bits
/// (<https://www.mongodb.com/docs/manual/reference/bson-types/#objectid>).
pub(crate) fn object_id(bytes: [u8; OBJECT_ID_BYTES]) -> (UnixTime, u128) {
    let bits = bytes
        .iter()
        .fold(0, |bits, &byte| bits << 8 | u128::from(byte));
    (UnixTime::from_ms((bits >> 64) as u64 * 1000), bits)
}

/// Returns the bytes of 24 hex digits.
pub(crate) fn object_id_bytes(digits: &str) -> [u8; OBJECT_ID_BYTES] {
    let bits = u128::from_str_radix(digits, 16).expect("hex digits");
    *bits.to_be_bytes().last_chunk().expect("12 bytes of 16")
}

/// Returns the time of a KSUID and its 128 bits of payload, or `None` for another text. 27 digits of base 62 can
/// exceed the 160 bits of a KSUID; such a text is none.
pub(crate) fn ksuid(text: &str) -> Option<(UnixTime, u128)> {
    if text.len() != KSUID_CHARS {
        return None;
    }
    let (mut seconds, mut payload) = (0u64, 0u128);
    for digit in text.bytes() {
        let value = BASE_62.binary_search(&digit).ok()? as u64;
        // The payload in halves, so that a product has at most 70 bits.
        let low = (payload & u128::from(u64::MAX)) * 62 + u128::from(value);
        let high = (payload >> 64) * 62 + (low >> 64);
        payload = high << 64 | low & u128::from(u64::MAX);
        seconds = seconds * 62 + (high >> 64) as u64;
        if seconds > u64::from(u32::MAX) {
            return None;
        }
    }
    Some((
        UnixTime::from_ms((KSUID_EPOCH_SECONDS + seconds) * 1000),
        payload,
    ))
}

/// Returns the 32 bits of time in a KSUID of this time.
pub(crate) fn ksuid_timestamp(time: UnixTime) -> u128 {
    (time.ms / 1000 - KSUID_EPOCH_SECONDS).into()
}

/// Returns the formats that an integer fits, with its time in each.
pub(crate) fn snowflakes(integer: i64) -> Vec<Alternative> {
    if integer < SNOWFLAKE_MIN {
        return Vec::new();
    }
    let ms = integer as u64 >> SNOWFLAKE_TAIL_BITS;
    SNOWFLAKES
        .map(|(name, epoch_ms)| Alternative {
            name: name.into(),
            time: Some(UnixTime::from_ms(epoch_ms + ms)),
            uuid: None,
        })
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ksuids_of_their_documentation() {
        // The README of segmentio/ksuid.
        let (time, payload) = ksuid("0ujtsYcgvSTl8PAuAdqWYSMnLOv").unwrap();
        assert_eq!(ksuid_timestamp(time), 107_608_047);
        assert_eq!(payload, 0xB5A1_CD34_B5F9_9D11_54FB_6853_345C_9735);
        assert_eq!(time.to_string(), "2017-10-10T04:00:47.000Z");
        assert!(
            ksuid("aWgEPTl1tmebfsQzFP4bxwgy80V").is_some(),
            "the greatest"
        );
        assert!(ksuid("aWgEPTl1tmebfsQzFP4bxwgy80W").is_none());
        assert!(ksuid("zzzzzzzzzzzzzzzzzzzzzzzzzzz").is_none());
        assert!(ksuid("0ujtsYcgvSTl8PAuAdqWYSMnLO-").is_none());
    }

    proptest! {
        #[test]
        fn a_ksuid_is_its_number_in_base_62(seconds: u32, payload: u128) {
            // Digit by digit from the end: a division of 160 bits in two steps.
            let (mut high, mut low) = (u64::from(seconds), payload);
            let mut text = [0; KSUID_CHARS];
            for digit in text.iter_mut().rev() {
                let middle = (u128::from(high % 62) << 64) | (low >> 64);
                high /= 62;
                let rest = (middle % 62) << 64 | low & u128::from(u64::MAX);
                low = ((middle / 62) << 64) | (rest / 62);
                *digit = BASE_62[(rest % 62) as usize];
            }
            let (time, found) = ksuid(str::from_utf8(&text).unwrap()).unwrap();
            prop_assert_eq!((ksuid_timestamp(time), found), (seconds.into(), payload));
        }
    }
}
