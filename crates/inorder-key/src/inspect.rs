//! Inspection of an id: kind, encoding, time, fields and problems.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::byte_order::{is_plausible, plausible_ms};
use crate::foreign::Alternative;
use crate::{ByteOrder, Encoding, KeyKind, Tsid, TypeId, Ulid, UnixTime, Uuid, foreign};

/// The parts and properties of an id.
///
/// ```
/// use inorder_key::{Inspection, KeyKind, UnixTime};
/// let now = UnixTime::from_ms(1_700_000_000_000);
/// let found = Inspection::of_text("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", now);
/// assert_eq!(found.kind, Some(KeyKind::Uuid7));
/// assert_eq!(found.time.unwrap().to_string(), "2022-02-22T19:22:22.000Z");
/// assert!(found.problems.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// Description of the id: `UUID version 7`.
    pub name: String,
    /// Kind of key, if this crate makes it.
    pub kind: Option<KeyKind>,
    /// Encoding of the input.
    pub encoding: Encoding,
    /// The 128 bits of a ULID or UUID.
    pub bits: Option<u128>,
    /// Prefix of a TypeID.
    pub prefix: Option<String>,
    /// Time of creation, if the id contains it.
    pub time: Option<UnixTime>,
    /// Other ids that the value could be: the formats of ids that an integer fits, and the UUIDs that 16 bytes are in
    /// other byte orders.
    pub could_be: Vec<Alternative>,
    /// Fields, the most significant first. Together they are all bits of the id.
    pub fields: Vec<Field>,
    /// Problems, one sentence each.
    pub problems: Vec<String>,
}

/// A field of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name of the field in the specification.
    pub name: &'static str,
    /// Number of bits.
    pub bits: u32,
    /// Value of the bits.
    pub value: u128,
}

/// Names and bit lengths of fields, the most significant first.
type Layout = &'static [(&'static str, u32)];

const ULID: Layout = &[("time", 48), ("randomness", 80)];
const UUID_1: Layout = &[
    ("time_low", 32),
    ("time_mid", 16),
    ("ver", 4),
    ("time_high", 12),
    ("var", 2),
    ("clock_seq", 14),
    ("node", 48),
];
const UUID_3: Layout = &[
    ("md5_high", 48),
    ("ver", 4),
    ("md5_mid", 12),
    ("var", 2),
    ("md5_low", 62),
];
const UUID_4: Layout = &[
    ("random_a", 48),
    ("ver", 4),
    ("random_b", 12),
    ("var", 2),
    ("random_c", 62),
];
const UUID_5: Layout = &[
    ("sha1_high", 48),
    ("ver", 4),
    ("sha1_mid", 12),
    ("var", 2),
    ("sha1_low", 62),
];
const UUID_6: Layout = &[
    ("time_high", 32),
    ("time_mid", 16),
    ("ver", 4),
    ("time_low", 12),
    ("var", 2),
    ("clock_seq", 14),
    ("node", 48),
];
const UUID_7: Layout = &[
    ("unix_ts_ms", 48),
    ("ver", 4),
    ("rand_a", 12),
    ("var", 2),
    ("rand_b", 62),
];
const UUID_8: Layout = &[
    ("custom_a", 48),
    ("ver", 4),
    ("custom_b", 12),
    ("var", 2),
    ("custom_c", 62),
];
const OBJECT_ID: Layout = &[("timestamp", 32), ("random", 40), ("counter", 24)];
const TSID: Layout = &[("zero", 1), ("time", 41), ("node", 10), ("counter", 12)];
const UUID_OTHER: Layout = &[("unknown", 128)];

impl Inspection {
    /// Inspects a text: an integer, a ULID, a UUID in any form, a TypeID, a TSID, a KSUID, or the hex digits of a blob,
    /// an ObjectId or a token.
    ///
    /// The length decides: 26 characters are a ULID, 27 a KSUID, 13 a TSID unless they are an integer, and 24 hex digits
    /// an ObjectId. A text with hyphens is a UUID, one with `_` a TypeID. 32 hex digits are a blob of 16 bytes. Times
    /// after `now` are reported as being in the future.
    pub fn of_text(text: &str, now: UnixTime) -> Self {
        match text.parse::<i64>() {
            // Leading zeros make a ULID of digits alone.
            Ok(integer) if integer.to_string() == text => Self::of_integer_at(integer, now),
            _ => Self::of_id_text(text, now),
        }
    }

    /// Inspects a blob: 16 bytes are a UUID or ULID, 12 an ObjectId, and any other length is a token.
    ///
    /// Times after `now` are reported as being in the future.
    pub fn of_blob(blob: &[u8], now: UnixTime) -> Self {
        let mut found = match <[u8; 16]>::try_from(blob) {
            Ok(bytes) => {
                let id = Uuid::from_bytes(bytes);
                let is_uuid = id
                    .version()
                    .is_some_and(|version| (1..=8).contains(&version));
                let mut found = match is_uuid || id == Uuid::NIL || id == Uuid::MAX {
                    true => Self::of_uuid(id, now),
                    false => Self::of_ulid(bytes.into(), now),
                };
                found.find_orders(id, now);
                found
            }
            Err(_) if blob.is_empty() => {
                let mut found = Self::new(NOTHING.into());
                found.problem("it is empty");
                found
            }
            Err(_) => match blob.try_into() {
                Ok(bytes) => Self::of_object_id(bytes, now),
                Err(_) => Self::of_token(blob.len()),
            },
        };
        found.encoding = Encoding::Blob;
        found
    }

    /// Inspects an integer. Formats whose time would be after `now` are not among those that it could be.
    pub fn of_integer_at(integer: i64, now: UnixTime) -> Self {
        let mut found = Self::of_integer(integer);
        found.could_be = foreign::snowflakes(integer);
        found.could_be.retain(|other| {
            other
                .time
                .is_none_or(|time| time.ms <= *plausible_ms(now).end())
        });
        found
    }

    /// Inspects an integer without its time.
    pub fn of_integer(integer: i64) -> Self {
        let mut found = Self::new("integer".into());
        found.encoding = Encoding::Integer;
        found.fields = vec![Field {
            name: "integer",
            bits: 64,
            value: (integer as u64).into(),
        }];
        if integer <= 0 {
            found.problem("keys count from 1");
        }
        found
    }

    fn of_id_text(text: &str, now: UnixTime) -> Self {
        let is_hex = text.bytes().all(|c| c.is_ascii_hexdigit());
        let has_other_case: fn(u8) -> bool;
        let mut found = if let Some(found) = Self::of_other_text(text, now) {
            return found;
        } else if text.len() == Ulid::TEXT_BYTES {
            has_other_case = |c| c.is_ascii_lowercase();
            Ulid::parse(text).map_or_else(|_| Self::of_nothing(text), |id| Self::of_ulid(id, now))
        } else {
            has_other_case = |c| c.is_ascii_uppercase();
            match Uuid::parse(text) {
                Ok(id) if is_hex => Self::of_blob(&id.to_bytes(), now),
                Ok(id) => {
                    let mut found = Self::of_uuid(id, now);
                    found.find_orders(id, now);
                    found
                }
                Err(_) if is_hex && text.len() == 2 * foreign::OBJECT_ID_BYTES => {
                    Self::of_object_id(foreign::object_id_bytes(text), now)
                }
                Err(_) if is_hex && !text.is_empty() && text.len().is_multiple_of(2) => {
                    Self::of_token(text.len() / 2)
                }
                Err(_) => Self::of_nothing(text),
            }
        };
        found.encoding = Encoding::Text;
        let digits = text.rsplit(':').next().unwrap_or(text);
        if found.name != NOTHING && digits.bytes().any(has_other_case) {
            found.problem(match text.len() {
                Ulid::TEXT_BYTES => "a ULID is written in upper case",
                _ => "hex digits are written in lower case",
            });
        }
        found
    }

    fn of_uuid(id: Uuid, now: UnixTime) -> Self {
        let bits = id.to_u128();
        let (name, kind, layout) = match (id, id.version()) {
            (Uuid::NIL, _) => ("the nil UUID".into(), None, UUID_OTHER),
            (Uuid::MAX, _) => ("the max UUID".into(), None, UUID_OTHER),
            (_, Some(version)) => {
                let (kind, layout) = match version {
                    1 => (None, UUID_1),
                    3 => (None, UUID_3),
                    4 => (Some(KeyKind::Uuid4), UUID_4),
                    5 => (None, UUID_5),
                    6 => (None, UUID_6),
                    7 => (Some(KeyKind::Uuid7), UUID_7),
                    8 => (None, UUID_8),
                    _ => (None, UUID_OTHER),
                };
                (format!("UUID version {version}"), kind, layout)
            }
            (_, None) => ("UUID of another variant".into(), None, UUID_OTHER),
        };
        let mut found = Self::new(name);
        found.kind = kind;
        found.bits = Some(bits);
        found.fields = fields(layout, bits, u128::BITS);
        found.time = id.time();
        found.check_time(now);
        match found.field("rand_b") {
            Some(0) if found.field("rand_a") == Some(0) => {
                found.problem("nothing in it is random: it bounds a range of time");
            }
            _ => {}
        }
        found
    }

    /// Finds the UUIDs that 16 bytes are in other byte orders. An id with a plausible time is taken as it is, and a
    /// UUIDv4 unless another order has a plausible time.
    fn find_orders(&mut self, id: Uuid, now: UnixTime) {
        let is_plausible_ms = |time: UnixTime| plausible_ms(now).contains(&time.ms);
        if self.time.is_some_and(is_plausible_ms) || [Uuid::NIL, Uuid::MAX].contains(&id) {
            return;
        }
        let is_random = self.kind == Some(KeyKind::Uuid4);
        for order in [ByteOrder::DotNet, ByteOrder::Swapped] {
            let other = order.read(id.to_bytes());
            if is_plausible(other, now) && (!is_random || other.time().is_some()) {
                let version = other.version().unwrap_or_default();
                self.could_be.push(Alternative {
                    name: format!(
                        "UUID version {version} in the byte order of {}",
                        order.name()
                    ),
                    time: other.time(),
                    uuid: Some(other),
                });
            }
        }
    }

    fn of_ulid(id: Ulid, now: UnixTime) -> Self {
        let bits = id.to_u128();
        let is_uuid7 = Uuid::from(id).version() == Some(7);
        let mut found = Self::new(match is_uuid7 {
            true => "ULID that is a UUID version 7 too".into(),
            false => "ULID".into(),
        });
        found.kind = Some(KeyKind::Ulid);
        found.bits = Some(bits);
        found.fields = fields(ULID, bits, u128::BITS);
        found.time = Some(id.into());
        found.check_time(now);
        if id.tail() == 0 {
            found.problem("nothing in it is random: it bounds a range of time");
        }
        found
    }

    /// Inspects a text that is a TypeID, TSID or KSUID.
    fn of_other_text(text: &str, now: UnixTime) -> Option<Self> {
        if text.contains('_') {
            let id = TypeId::parse(text).ok()?;
            let mut found = Self::of_uuid(id.uuid(), now);
            if found.kind != Some(KeyKind::Uuid7) {
                found.problem("its UUID is not of version 7: it is not in the order of creation");
            }
            found.name = "TypeID".into();
            found.kind = None;
            found.prefix = Some(id.prefix().into());
            return Some(found);
        }
        if let Ok(id) = Tsid::parse(text) {
            let mut found = Self::new("TSID".into());
            found.kind = Some(KeyKind::Tsid);
            found.time = Some(id.into());
            found.fields = fields(TSID, id.to_i64() as u128, i64::BITS);
            found.check_time(now);
            return Some(found);
        }
        let (time, payload) = foreign::ksuid(text)?;
        let mut found = Self::new("KSUID".into());
        found.time = Some(time);
        let parts = [
            ("timestamp", 32, foreign::ksuid_timestamp(time)),
            ("payload", 128, payload),
        ];
        found.fields = parts
            .map(|(name, bits, value)| Field { name, bits, value })
            .into();
        found.check_time(now);
        Some(found)
    }

    fn of_object_id(bytes: [u8; foreign::OBJECT_ID_BYTES], now: UnixTime) -> Self {
        let mut found = Self::new("ObjectId".into());
        let (time, bits) = foreign::object_id(bytes);
        found.time = Some(time);
        found.fields = fields(OBJECT_ID, bits, 96);
        found.check_time(now);
        found
    }

    fn of_token(bytes: usize) -> Self {
        let mut found = Self::new(format!("token of {bytes} bytes"));
        found.kind = (bytes == 20).then_some(KeyKind::Token160);
        if bytes < 16 {
            found.problem("fewer than 16 random bytes can be guessed");
        }
        found
    }

    /// Inspects a text that is not an id. The problem is that of the id with the most similar length, or of a TypeID if
    /// the text has its `_`.
    fn of_nothing(text: &str) -> Self {
        let mut found = Self::new(NOTHING.into());
        let length = text.chars().count();
        let error = match length.abs_diff(26) < length.abs_diff(32) {
            _ if text.contains('_') => TypeId::parse(text).err(),
            true => Ulid::parse(text).err(),
            false => Uuid::parse(text).err(),
        };
        match text.trim().len() == text.len() {
            true => found.problems.extend(error.map(|error| error.to_string())),
            false => found.problem("blanks stand around it"),
        }
        found
    }

    fn new(name: String) -> Self {
        Self {
            name,
            kind: None,
            encoding: Encoding::Text,
            bits: None,
            prefix: None,
            time: None,
            could_be: Vec::new(),
            fields: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Returns the value of the field with this name.
    pub fn field(&self, name: &str) -> Option<u128> {
        let field = self.fields.iter().find(|field| field.name == name);
        field.map(|field| field.value)
    }

    fn problem(&mut self, problem: &str) {
        self.problems.push(problem.into());
    }

    fn check_time(&mut self, now: UnixTime) {
        match self.time {
            Some(time) if time.ms < *plausible_ms(now).start() => {
                self.problem("its time lies before 2000")
            }
            Some(time) if time.ms > *plausible_ms(now).end() => {
                self.problem("its time lies in the future")
            }
            _ => {}
        }
    }
}

/// Description of a text that is not an id.
const NOTHING: &str = "no id";

/// Splits the lowest `below` bits into fields.
fn fields(layout: Layout, id: u128, mut below: u32) -> Vec<Field> {
    let field = |&(name, bits): &(&'static str, u32)| {
        below -= bits;
        let value = id >> below & u128::MAX >> (u128::BITS - bits);
        Field { name, bits, value }
    };
    layout.iter().map(field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixTime = UnixTime::from_ms(1_750_000_000_000);

    fn of(text: &str) -> Inspection {
        Inspection::of_text(text, NOW)
    }

    #[test]
    fn rfc_9562_test_vectors_are_taken_apart() {
        // Appendix A.1 to A.6, B.1; versions 1 and 6 tell the same time.
        for (text, version, time) in [
            (
                "c232ab00-9414-11ec-b3c8-9f6bdeced846",
                1,
                "2022-02-22T19:22:22.000Z",
            ),
            ("5df41881-3aed-3515-88a7-2f4a814cf09e", 3, ""),
            ("919108f7-52d1-4320-9bac-f847db4148a8", 4, ""),
            ("2ed6657d-e927-568b-95e1-2665a8aea6a2", 5, ""),
            (
                "1ec9414c-232a-6b00-b3c8-9f6bdeced846",
                6,
                "2022-02-22T19:22:22.000Z",
            ),
            (
                "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
                7,
                "2022-02-22T19:22:22.000Z",
            ),
            ("2489e9ad-2ee2-8e00-8ec9-32d5f69181c0", 8, ""),
        ] {
            let found = of(text);
            assert_eq!(found.name, format!("UUID version {version}"));
            assert_eq!(found.field("ver"), Some(version));
            assert_eq!(found.field("var"), Some(0b10));
            assert_eq!(
                found.fields.iter().map(|field| field.bits).sum::<u32>(),
                128
            );
            let told = found.time.map(|time| time.to_string()).unwrap_or_default();
            assert_eq!(told, time);
            assert_eq!(found.problems, Vec::<String>::new());
        }
    }

    #[test]
    fn ulids_tokens_and_integers_are_told_apart() {
        assert_eq!(of("01ARZ3NDEKTSV4RRFFQ69G5FAV").name, "ULID");
        let both = Ulid::from(Uuid::from_u128(0x017F22E279B07CC398C4DC0C0C07398F));
        assert_eq!(
            of(&both.to_string()).name,
            "ULID that is a UUID version 7 too"
        );
        assert_eq!(of(&"ab".repeat(20)).kind, Some(KeyKind::Token160));
        assert_eq!(of("17").encoding, Encoding::Integer);
        assert_eq!(
            of("00000000-0000-0000-0000-000000000000").name,
            "the nil UUID"
        );
        assert_eq!(
            Inspection::of_blob(&[7; 20], NOW).kind,
            Some(KeyKind::Token160)
        );
        assert_eq!(Inspection::of_blob(&[1; 16], NOW).kind, Some(KeyKind::Ulid));
    }

    #[test]
    fn hyphens_make_a_uuid_and_26_characters_a_ulid() {
        for (text, name, kind) in [
            (
                "01563e3a-b5d3-d676-4c61-efb99302bd5b",
                "UUID of another variant",
                None,
            ),
            (
                "01563e3a-b5d3-d676-8c61-efb99302bd5b",
                "UUID version 13",
                None,
            ),
            (
                "{01563e3a-b5d3-0676-8c61-efb99302bd5b}",
                "UUID version 0",
                None,
            ),
            (
                "URN:UUID:919108f7-52d1-4320-9bac-f847db4148a8",
                "UUID version 4",
                Some(KeyKind::Uuid4),
            ),
            (
                "01563e3ab5d3d6764c61efb99302bd5b",
                "ULID",
                Some(KeyKind::Ulid),
            ),
            (
                "919108f752d143209bacf847db4148a8",
                "UUID version 4",
                Some(KeyKind::Uuid4),
            ),
            ("80000000000000000000000000", NOTHING, None),
            ("abcdefabcdefabcdefabcdefab", NOTHING, None),
            ("0156-3e3a-b5d3-d676-4c61-efb9-9302-bd5b", NOTHING, None),
            ("{919108f752d143209bacf847db4148a8}", NOTHING, None),
            ("{01ARZ3NDEKTSV4RRFFQ69G5FAV}", NOTHING, None),
            (" 919108f7-52d1-4320-9bac-f847db4148a8", NOTHING, None),
        ] {
            let found = of(text);
            assert_eq!((found.name.as_str(), found.kind), (name, kind), "{text}");
        }
    }

    #[test]
    fn uuids_in_other_byte_orders_are_recognised() {
        for (uuid, version) in [
            ("919108f7-52d1-4320-9bac-f847db4148a8", 4),
            ("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", 7),
            ("c232ab00-9414-11ec-b3c8-9f6bdeced846", 1),
            ("1ec9414c-232a-6b00-b3c8-9f6bdeced846", 6),
        ] {
            let uuid = Uuid::parse(uuid).unwrap();
            for order in [ByteOrder::DotNet, ByteOrder::Swapped] {
                let stored = order.to_bytes(uuid);
                let text = Uuid::from_bytes(stored).to_string();
                for found in [
                    Inspection::of_blob(&stored, NOW),
                    of(&text),
                    of(&text.replace('-', "")),
                ] {
                    let name = format!(
                        "UUID version {version} in the byte order of {}",
                        order.name()
                    );
                    let other = found.could_be.iter().find(|other| other.name == name);
                    assert_eq!(other.and_then(|other| other.uuid), Some(uuid), "{found:?}");
                }
            }
            assert_eq!(Inspection::of_blob(&uuid.to_bytes(), NOW).could_be, []);
        }
        for id in [
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "01563e3ab5d3d6764c61efb99302bd5b",
            "00000000-0000-0000-0000-000000000000",
        ] {
            assert_eq!(of(id).could_be, [], "{id}");
        }
    }

    #[test]
    fn problems_are_sentences() {
        for (text, problem) in [
            (
                "01arz3ndektsv4rrffq69g5fav",
                "a ULID is written in upper case",
            ),
            (
                "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
                "hex digits are written in lower case",
            ),
            (
                "{017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
                "a UUID has 36 characters or 32 hex digits, not 37",
            ),
            ("7ZZZZZZZZZ0000000000000001", "its time lies in the future"),
            ("00000000010000000000000001", "its time lies before 2000"),
            (
                "01ARZ3NDEK0000000000000000",
                "nothing in it is random: it bounds a range of time",
            ),
            (
                "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
                "a ULID begins with 0 to 7, not '8': it would exceed 128 bits",
            ),
            (
                "01ARZ3NDEKTSV4RRFFQ69G5FAU",
                "a ULID cannot have 'U' at position 26",
            ),
            (
                "01ARZ3NDEKTSV4RRFFQ69G5FA",
                "a ULID has 26 characters or 32 hex digits, not 25",
            ),
            (
                "017f22e2-79b0-7cc3-98c4-dc0c0c07398g",
                "a UUID cannot have 'g' at position 36",
            ),
            (
                "01ARZ3NDEKTSV4RRFFQ69G5FA\u{fc}",
                "a ULID cannot have '\u{fc}' at position 26",
            ),
            (
                "\u{e9}17f22e2-79b0-7cc3-98c4-dc0c0c07398",
                "a UUID cannot have '\u{e9}' at position 1",
            ),
            (
                "user_01h455vb4pex5vsknk084sn02u",
                "the suffix of a TypeID cannot have 'u' at position 26",
            ),
            (
                "user_01h455vb4pex5vsknk084sn02",
                "the suffix of a TypeID has 26 characters, not 25",
            ),
            (
                "user_81h455vb4pex5vsknk084sn02q",
                "the suffix of a TypeID begins with 0 to 7, not '8': it would exceed 128 bits",
            ),
            (
                "User_01h455vb4pex5vsknk084sn02q",
                "the prefix of a TypeID has up to 63 characters a to z and _, neither first nor last: user_01h455vb4pex5vsknk084sn02q",
            ),
            (" 17", "blanks stand around it"),
            ("-5", "keys count from 1"),
        ] {
            assert_eq!(of(text).problems, [problem], "{text}");
        }
    }
}
