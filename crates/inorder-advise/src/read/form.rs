//! How a value is written, and what it says of itself: digits, hyphens, version, time.

use crate::IdForm;
use serde::Serialize;

/// Ids are told from other values by their length and characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// A UUID's 36 characters, lower case.
    Uuid,
    /// The same in upper case.
    UuidUpper,
    /// The same in both cases.
    UuidMixed,
    /// 32 hexadecimal digits, lower case.
    Hex,
    /// The same in upper case.
    HexUpper,
    /// The same in both cases.
    HexMixed,
    /// 40 hexadecimal digits: a SHA-1.
    Hex40,
    /// 64 hexadecimal digits: a SHA-256.
    Hex64,
    /// 26 digits of Crockford's base 32, upper case.
    Ulid,
    /// The same in lower or both cases.
    UlidOther,
    /// A blob of 16 bytes.
    Blob16,
    /// A blob of 20 bytes: a SHA-1 or a token.
    Blob20,
    /// A blob of 32 bytes: a SHA-256 or a token.
    Blob32,
}

/// Every form.
pub(super) const FORMS: [Form; 13] = [
    Form::Uuid,
    Form::UuidUpper,
    Form::UuidMixed,
    Form::Hex,
    Form::HexUpper,
    Form::HexMixed,
    Form::Hex40,
    Form::Hex64,
    Form::Ulid,
    Form::UlidOther,
    Form::Blob16,
    Form::Blob20,
    Form::Blob32,
];

/// What a value was read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Read {
    pub form: Form,
    /// The first 128 bits, as far as there are.
    pub bits: u128,
}

impl Form {
    /// The form that a conversion to blobs knows.
    pub fn id_form(self) -> Option<IdForm> {
        Some(match self {
            Form::Uuid => IdForm::Uuid,
            Form::UuidUpper => IdForm::UuidUpper,
            Form::Hex => IdForm::Hex,
            Form::HexUpper => IdForm::HexUpper,
            Form::Ulid => IdForm::Ulid,
            _ => return None,
        })
    }

    /// Bytes of a value.
    pub fn bytes(self) -> u64 {
        match self {
            Form::Uuid | Form::UuidUpper | Form::UuidMixed => 36,
            Form::Hex | Form::HexUpper | Form::HexMixed | Form::Blob32 => 32,
            Form::Hex40 => 40,
            Form::Hex64 => 64,
            Form::Ulid | Form::UlidOther => 26,
            Form::Blob16 => 16,
            Form::Blob20 => 20,
        }
    }

    /// Whether its 128 bits can have a version.
    pub(super) fn has_128_bits(self) -> bool {
        !matches!(
            self,
            Form::Hex40 | Form::Hex64 | Form::Blob20 | Form::Blob32
        )
    }

    /// How it is written, in words.
    pub fn words(self) -> &'static str {
        match self {
            Form::Uuid => "text of 36 characters",
            Form::UuidUpper => "text of 36 characters, upper case",
            Form::UuidMixed => "text of 36 characters, both cases",
            Form::Hex => "text of 32 hex digits",
            Form::HexUpper => "text of 32 hex digits, upper case",
            Form::HexMixed => "text of 32 hex digits, both cases",
            Form::Hex40 => "text of 40 hex digits",
            Form::Hex64 => "text of 64 hex digits",
            Form::Ulid => "text of 26 characters",
            Form::UlidOther => "text of 26 characters, lower case",
            Form::Blob16 => "16-byte blob",
            Form::Blob20 => "20-byte blob",
            Form::Blob32 => "32-byte blob",
        }
    }
}

/// Reads a text, if it is written like an id.
pub(super) fn of_text(text: &[u8]) -> Option<Read> {
    match text.len() {
        36 => {
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
            hex(&digits, [Form::Uuid, Form::UuidUpper, Form::UuidMixed])
        }
        32 => hex(text, [Form::Hex, Form::HexUpper, Form::HexMixed]),
        40 => hex(text, [Form::Hex40; 3]),
        64 => hex(text, [Form::Hex64; 3]),
        26 => crockford(text),
        _ => None,
    }
}

/// Reads a blob, if it has the length of an id.
pub(super) fn of_blob(blob: &[u8]) -> Option<Read> {
    let form = match blob.len() {
        16 => Form::Blob16,
        20 => Form::Blob20,
        32 => Form::Blob32,
        _ => return None,
    };
    let first: [u8; 16] = blob[..16].try_into().ok()?;
    Some(Read {
        form,
        bits: u128::from_be_bytes(first),
    })
}

/// Hexadecimal digits; the forms are of lower, upper and both cases.
fn hex(digits: &[u8], [lower, upper, mixed]: [Form; 3]) -> Option<Read> {
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
    let form = match (has_lower, has_upper) {
        (_, false) => lower,
        (false, true) => upper,
        (true, true) => mixed,
    };
    Some(Read { form, bits })
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

/// The first 48 bits: milliseconds since 1970 of a ULID or UUIDv7.
pub(super) fn time_ms(bits: u128) -> u64 {
    (bits >> 80) as u64
}

/// A number that sorts as the id's time does: versions 1 and 6 keep theirs elsewhere than at the beginning.
pub(super) fn sort_bits(bits: u128) -> u64 {
    (bits >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_by_length_and_digits() {
        for (text, form) in [
            ("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", Some(Form::Uuid)),
            (
                "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
                Some(Form::UuidUpper),
            ),
            (
                "017F22e2-79B0-7CC3-98C4-DC0C0C07398F",
                Some(Form::UuidMixed),
            ),
            ("017f22e279b07cc398c4dc0c0c07398f", Some(Form::Hex)),
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
        assert_eq!(time_ms(text.bits), 0x017f_22e2_79b0);
        let hex = of_text(b"017f22e279b07cc398c4dc0c0c07398f").unwrap();
        assert_eq!(hex.bits, text.bits);
    }
}
