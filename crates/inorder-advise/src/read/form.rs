//! How a value is written, and what it says of itself: digits, hyphens, version, time.

use crate::IdForm;
use inorder_key::ByteOrder;
use serde::Serialize;

/// In which case the letters of a text are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Case {
    /// Lower case, or no letters.
    Lower,
    /// Upper case.
    Upper,
    /// Both.
    Mixed,
}

/// Ids are told from other values by their length and characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// A UUID's 36 characters.
    Uuid(Case),
    /// Hexadecimal digits, as many as an id or a digest has.
    Hex {
        /// The digits, without the prefix.
        digits: u8,
        /// Whether `0x` is before them.
        has_prefix: bool,
        /// The case of the letters.
        case: Case,
    },
    /// 26 digits of Crockford's base 32, upper case.
    Ulid,
    /// The same in lower or both cases.
    UlidOther,
    /// A blob of as many bytes as an id or a digest has.
    Blob(u8),
}

/// Bytes of ids and digests: ObjectId 12; UUID and MD5 16; SHA-1 20; SHA-224 28; SHA-256 32; an id of Rekor 40, its tree
/// and a SHA-256; SHA-384 48; SHA-512 64.
const BYTES: [u8; 8] = [12, 16, 20, 28, 32, 40, 48, 64];

/// What a value was read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Read {
    pub form: Form,
    /// The first 128 bits, as far as there are.
    pub bits: u128,
    /// Whether it has letters, so that its case is known.
    pub has_case: bool,
}

impl Case {
    fn of(has_lower: bool, has_upper: bool) -> Self {
        match (has_lower, has_upper) {
            (_, false) => Case::Lower,
            (false, true) => Case::Upper,
            (true, true) => Case::Mixed,
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            Case::Lower => "",
            Case::Upper => "-upper",
            Case::Mixed => "-mixed",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Case::Lower => "",
            Case::Upper => ", upper case",
            Case::Mixed => ", both cases",
        }
    }
}

impl Form {
    /// The form that a conversion to blobs knows.
    pub fn id_form(self) -> Option<IdForm> {
        Some(match self {
            Form::Uuid(Case::Lower) => IdForm::Uuid,
            Form::Uuid(Case::Upper) => IdForm::UuidUpper,
            Form::Hex {
                case: Case::Lower,
                has_prefix: false,
                ..
            } => IdForm::Hex,
            Form::Hex {
                case: Case::Upper,
                has_prefix: false,
                ..
            } => IdForm::HexUpper,
            Form::Hex {
                case: Case::Lower,
                has_prefix: true,
                ..
            } => IdForm::PrefixedHex,
            Form::Hex {
                case: Case::Upper,
                has_prefix: true,
                ..
            } => IdForm::PrefixedHexUpper,
            Form::Ulid => IdForm::Ulid,
            _ => return None,
        })
    }

    /// Bytes that the value stands for.
    pub fn bytes(self) -> u64 {
        match self {
            Form::Uuid(_) | Form::Ulid | Form::UlidOther => 16,
            Form::Hex { digits, .. } => u64::from(digits / 2),
            Form::Blob(bytes) => bytes.into(),
        }
    }

    /// Whether it is a text.
    pub fn is_text(self) -> bool {
        !matches!(self, Form::Blob(_))
    }

    /// Whether its 128 bits can have a version.
    pub(super) fn has_128_bits(self) -> bool {
        self.bytes() == 16
    }

    /// The same form with letters of another case.
    pub(super) fn in_case(self, case: Case) -> Self {
        match self {
            Form::Uuid(_) => Form::Uuid(case),
            Form::Hex {
                digits, has_prefix, ..
            } => Form::Hex {
                digits,
                has_prefix,
                case,
            },
            other => other,
        }
    }

    /// The case of its letters.
    pub(super) fn case(self) -> Option<Case> {
        match self {
            Form::Uuid(case) | Form::Hex { case, .. } => Some(case),
            _ => None,
        }
    }

    /// How it is written, in words.
    pub fn words(self) -> String {
        match self {
            Form::Uuid(case) => format!("text of 36 characters{}", case.words()),
            Form::Hex {
                digits,
                has_prefix,
                case,
            } => {
                let prefix = if has_prefix { "0x and " } else { "" };
                format!("text of {prefix}{digits} hex digits{}", case.words())
            }
            Form::Ulid => "text of 26 characters".into(),
            Form::UlidOther => "text of 26 characters, lower case".into(),
            Form::Blob(bytes) => format!("{bytes}-byte blob"),
        }
    }
}

impl Serialize for Form {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = match self {
            Form::Uuid(case) => format!("uuid{}", case.suffix()),
            Form::Hex {
                digits,
                has_prefix,
                case,
            } => {
                let prefix = if *has_prefix { "0x-" } else { "" };
                let digits = if *digits == 32 {
                    String::new()
                } else {
                    digits.to_string()
                };
                format!("{prefix}hex{digits}{}", case.suffix())
            }
            Form::Ulid => "ulid".into(),
            Form::UlidOther => "ulid-other".into(),
            Form::Blob(bytes) => format!("blob{bytes}"),
        };
        serializer.serialize_str(&name)
    }
}

/// Reads a text, if it is written like an id.
pub(super) fn of_text(text: &[u8]) -> Option<Read> {
    if text.len() == 36 {
        if [8, 13, 18, 23].iter().any(|&at| text[at] != b'-') {
            return None;
        }
        let mut digits = [0; 32];
        let groups = [0..8, 9..13, 14..18, 19..23, 24..36];
        let mut at = 0;
        for group in groups {
            let length = group.len();
            digits[at..at + length].copy_from_slice(&text[group]);
            at += length;
        }
        return hex(&digits, Form::Uuid);
    }
    let digits = text.strip_prefix(b"0x");
    if text.len() == 26 && !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
        return crockford(text);
    }
    let (has_prefix, digits) = (digits.is_some(), digits.unwrap_or(text));
    let count = u8::try_from(digits.len()).ok()?;
    if !count.is_multiple_of(2) || !BYTES.contains(&(count / 2)) {
        return None;
    }
    hex(digits, |case| Form::Hex {
        digits: count,
        has_prefix,
        case,
    })
}

/// Reads a blob, if it has the length of an id.
pub(super) fn of_blob(blob: &[u8]) -> Option<Read> {
    let length = u8::try_from(blob.len())
        .ok()
        .filter(|length| BYTES.contains(length))?;
    let mut first = [0; 16];
    let known = blob.len().min(16);
    first[..known].copy_from_slice(&blob[..known]);
    Some(Read {
        form: Form::Blob(length),
        bits: u128::from_be_bytes(first),
        has_case: true,
    })
}

/// Hexadecimal digits.
fn hex(digits: &[u8], form: impl FnOnce(Case) -> Form) -> Option<Read> {
    let (mut has_lower, mut has_upper, mut bits) = (false, false, 0u128);
    for (at, &digit) in digits.iter().enumerate() {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => {
                has_lower = true;
                digit - b'a' + 10
            }
            b'A'..=b'F' => {
                has_upper = true;
                digit - b'A' + 10
            }
            _ => return None,
        };
        if at < 32 {
            bits = bits << 4 | u128::from(value);
        }
    }
    if digits.len() < 32 {
        bits <<= 4 * (32 - digits.len());
    }
    Some(Read {
        form: form(Case::of(has_lower, has_upper)),
        bits,
        has_case: has_lower || has_upper,
    })
}

/// 26 digits of Crockford's base 32. Words of 26 letters that happen to be digits are rare; a ULID has both.
fn crockford(text: &[u8]) -> Option<Read> {
    let (mut bits, mut is_upper, mut has_figure) = (0u128, true, false);
    if !matches!(text[0], b'0'..=b'7') {
        return None;
    }
    for &digit in text {
        let upper = digit.to_ascii_uppercase();
        is_upper &= upper == digit;
        has_figure |= digit.is_ascii_digit();
        let value = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"
            .iter()
            .position(|&own| own == upper)?;
        bits = bits << 5 | value as u128;
    }
    has_figure.then_some(Read {
        form: if is_upper {
            Form::Ulid
        } else {
            Form::UlidOther
        },
        bits,
        has_case: true,
    })
}

/// The version of a UUID with the variant of RFC 9562; 0 is none.
pub(super) fn version(bits: u128) -> u8 {
    let (version, variant) = ((bits >> 76) as u8 & 0xf, (bits >> 62) as u8 & 3);
    if variant == 2 && (1..=8).contains(&version) {
        version
    } else {
        0
    }
}

/// The versions of a UUID that is stored in each order of [`ByteOrder::ALL`].
pub(super) fn versions(bits: u128) -> [u8; ByteOrder::ALL.len()] {
    ByteOrder::ALL.map(|order| {
        // The byte that has the version. The one with the variant is the same in all.
        let at = match order {
            ByteOrder::Standard => 6,
            ByteOrder::DotNet => 7,
            ByteOrder::Swapped => 0,
        };
        let byte = bits >> (8 * (15 - at)) & 0xff;
        version(bits & !(0xff << 72) | byte << 72)
    })
}

/// Where ids have the time of their making, if they begin with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    /// 48 bits of milliseconds, as a ULID or UUIDv7 has.
    Ms,
    /// 48 bits of 10 microseconds, as Laravel's ordered UUIDs have.
    TenMicroseconds,
    /// 32 bits of seconds, as an ObjectId has.
    Seconds,
    /// UUIDv1 with its time first, as `UUID_TO_BIN(…, 1)` of MySQL writes it.
    Swapped,
}

/// Every clock.
pub(super) const CLOCKS: [Clock; 4] = [
    Clock::Ms,
    Clock::TenMicroseconds,
    Clock::Seconds,
    Clock::Swapped,
];

/// 2010-01-01, before which none of these ids was made, and a day.
const EARLY_MS: u64 = 1_262_304_000_000;
const DAY_MS: u64 = 86_400_000;
/// Milliseconds from the first day of the Gregorian calendar, where UUIDv1 begins, to 1970.
const GREGORIAN_MS: u64 = 12_219_292_800_000;

/// For each clock whether it gives a time between 2010 and tomorrow.
pub(super) fn times(bits: u128, now_ms: u64) -> [bool; CLOCKS.len()] {
    let first = (bits >> 64) as u64;
    CLOCKS.map(|clock| {
        let ms = match clock {
            Clock::Ms => first >> 16,
            Clock::TenMicroseconds => (first >> 16) / 100,
            Clock::Seconds => (first >> 32) * 1000,
            Clock::Swapped if first >> 60 != 1 => return false,
            Clock::Swapped => ((first & ((1 << 60) - 1)) / 10_000).saturating_sub(GREGORIAN_MS),
        };
        ms >= EARLY_MS && ms <= now_ms + DAY_MS
    })
}

/// The bits in the order in which MariaDB's type `uuid` sorts them: it stores versions 1 to 5 with the last parts first.
pub(super) fn in_parts(bits: u128) -> u128 {
    let part = |from: u32, bytes: u32| bits >> (8 * (16 - from - bytes)) & ((1 << (8 * bytes)) - 1);
    part(10, 6) << 80 | part(8, 2) << 64 | part(6, 2) << 48 | part(4, 2) << 32 | part(0, 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: Form = Form::Hex {
        digits: 32,
        has_prefix: false,
        case: Case::Lower,
    };

    #[test]
    fn digests_are_told_by_their_digits() {
        for bytes in BYTES {
            for (prefix, case) in [
                ("", Case::Lower),
                ("0x", Case::Lower),
                ("", Case::Upper),
                ("0x", Case::Upper),
                ("", Case::Mixed),
            ] {
                let digits = match case {
                    Case::Lower => "a1".repeat(bytes.into()),
                    Case::Upper => "A1".repeat(bytes.into()),
                    Case::Mixed => "a1".to_owned() + &"B2".repeat(usize::from(bytes) - 1),
                };
                let read = of_text(format!("{prefix}{digits}").as_bytes()).unwrap();
                let expected = Form::Hex {
                    digits: 2 * bytes,
                    has_prefix: !prefix.is_empty(),
                    case,
                };
                // 26 characters are no digest, and 36 no UUID without hyphens.
                assert_eq!((read.form, read.form.bytes()), (expected, bytes.into()));
            }
            let blob = of_blob(&vec![7; bytes.into()]).unwrap();
            assert_eq!(blob.form, Form::Blob(bytes));
        }
        for text in [
            "",
            "0x",
            "abc",
            &"a".repeat(41),
            &"a".repeat(38),
            "0xzz",
            &"a".repeat(300),
        ] {
            assert_eq!(of_text(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn clocks_give_the_times_of_ids() {
        let now_ms = 1_764_000_000_000;
        let text = |text: &str| of_text(text.as_bytes()).unwrap().bits;
        let clock = |id: &str| times(text(id), now_ms);
        // 2024-05-01 by each clock.
        assert_eq!(
            clock("018f311a-2000-4abc-8000-000000000000"),
            [true, false, false, false]
        );
        assert!(clock("9bf16c9e-1c00-4abc-8000-000000000000")[1]);
        assert!(clock("66318700aabbccddeeff0011")[2]);
        assert!(clock("11ef0780-1234-5678-8000-000000000000")[3]);
        assert_eq!(clock("e71f6d2c-8d5b-4abc-8000-000000000000"), [false; 4]);
    }

    #[test]
    fn versions_are_read_in_every_byte_order() {
        let id = inorder_key::Uuid::parse("919108f7-52d1-4320-9bac-f847db4148a8").unwrap();
        for (at, order) in ByteOrder::ALL.into_iter().enumerate() {
            let bits = u128::from_be_bytes(order.to_bytes(id));
            assert_eq!(versions(bits)[at], 4);
            assert_eq!(versions(bits)[0], version(bits));
        }
    }

    #[test]
    fn mariadb_stores_the_last_parts_first() {
        let bits = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff_u128;
        assert_eq!(in_parts(bits), 0xaabb_ccdd_eeff_8899_6677_4455_0011_2233);
    }

    #[test]
    fn forms_are_told_by_length_and_digits() {
        for (text, form) in [
            (
                "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
                Some(Form::Uuid(Case::Lower)),
            ),
            (
                "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
                Some(Form::Uuid(Case::Upper)),
            ),
            (
                "017F22e2-79B0-7CC3-98C4-DC0C0C07398F",
                Some(Form::Uuid(Case::Mixed)),
            ),
            ("017f22e279b07cc398c4dc0c0c07398f", Some(HEX)),
            ("01ARZ3NDEKTSV4RRFFQ69G5FAV", Some(Form::Ulid)),
            ("01arz3ndektsv4rrffq69g5fav", Some(Form::UlidOther)),
            ("8ZZZZZZZZZZZZZZZZZZZZZZZZZ", None),
            ("admin-3000xxxxxxxxxxxxxxxxxxxx", None),
            ("017f22e2-79b0-7cc3-98c4-dc0c0c07398g", None),
            ("017f22e2-79b0-7cc3-98c4+dc0c0c07398f", None),
        ] {
            assert_eq!(
                of_text(text.as_bytes()).map(|read| read.form),
                form,
                "{text}"
            );
        }
    }

    #[test]
    fn text_and_blob_have_the_same_bits() {
        let text = of_text(b"017f22e2-79b0-7cc3-98c4-dc0c0c07398f").unwrap();
        let blob = of_blob(&text.bits.to_be_bytes()).unwrap();
        assert_eq!(text.bits, blob.bits);
        assert_eq!(version(text.bits), 7);
        assert_eq!(
            times(text.bits, 1_800_000_000_000),
            [true, false, false, false]
        );
        let hex = of_text(b"017f22e279b07cc398c4dc0c0c07398f").unwrap();
        assert_eq!(hex.bits, text.bits);
    }
}
