//! Ids as text and as the bytes that they stand for.

use crate::IdForm;

/// The digits of Crockford's base 32. Source: <https://www.crockford.com/base32.html>.
const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Where a UUID's text has hyphens (RFC 9562, section 4).
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// The bytes of an id. `None` where the text isn't of exactly this form, so that the bytes lead back to the same text.
pub(crate) fn to_blob(text: &[u8], form: IdForm) -> Option<Vec<u8>> {
    match form {
        IdForm::Hex | IdForm::HexUpper => from_hex(text, form == IdForm::HexUpper),
        IdForm::PrefixedHex | IdForm::PrefixedHexUpper => {
            from_hex(text.strip_prefix(b"0x")?, form == IdForm::PrefixedHexUpper)
        }
        IdForm::Uuid | IdForm::UuidUpper => {
            let is_uuid = text.len() == 36 && HYPHENS.iter().all(|at| text[*at] == b'-');
            let digits: Vec<u8> = text.iter().copied().filter(|byte| *byte != b'-').collect();
            match is_uuid && digits.len() == 32 {
                true => from_hex(&digits, form == IdForm::UuidUpper),
                false => None,
            }
        }
        IdForm::Ulid => {
            let mut number: u128 = 0;
            for (at, byte) in text.iter().enumerate() {
                let digit = CROCKFORD.iter().position(|digit| digit == byte)?;
                // 26 digits are 130 bits.
                if at == 0 && digit > 7 {
                    return None;
                }
                number = number << 5 | digit as u128;
            }
            (text.len() == 26).then(|| number.to_be_bytes().to_vec())
        }
    }
}

fn from_hex(text: &[u8], is_upper: bool) -> Option<Vec<u8>> {
    let digit = |byte: u8| match (byte, is_upper) {
        (b'0'..=b'9', _) => Some(byte - b'0'),
        (b'a'..=b'f', false) => Some(byte - b'a' + 10),
        (b'A'..=b'F', true) => Some(byte - b'A' + 10),
        _ => None,
    };
    let pairs = text.chunks_exact(2);
    let is_even = pairs.remainder().is_empty() && !text.is_empty();
    let bytes = pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?));
    bytes.collect::<Option<_>>().filter(|_| is_even)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of an id. `None` where the form has another length.
    fn to_text(blob: &[u8], form: IdForm) -> Option<String> {
        let mut hex: String = blob.iter().map(|byte| format!("{byte:02x}")).collect();
        match form {
            IdForm::Hex => {}
            IdForm::HexUpper => hex.make_ascii_uppercase(),
            IdForm::PrefixedHex => hex.insert_str(0, "0x"),
            IdForm::PrefixedHexUpper => hex = format!("0x{}", hex.to_uppercase()),
            IdForm::Uuid | IdForm::UuidUpper if blob.len() == 16 => {
                for at in HYPHENS {
                    hex.insert(at, '-');
                }
                if form == IdForm::UuidUpper {
                    hex.make_ascii_uppercase();
                }
            }
            IdForm::Ulid => {
                let number = u128::from_be_bytes(blob.try_into().ok()?);
                let digit = |at: u32| char::from(CROCKFORD[(number >> (5 * at)) as usize & 31]);
                return Some((0..26).rev().map(digit).collect());
            }
            _ => return None,
        }
        Some(hex)
    }

    const FORMS: [(IdForm, &str); 7] = [
        (IdForm::Hex, "0192f0c1d2e37abc8def0123456789ab"),
        (IdForm::HexUpper, "0192F0C1D2E37ABC8DEF0123456789AB"),
        (IdForm::Uuid, "0192f0c1-d2e3-7abc-8def-0123456789ab"),
        (IdForm::UuidUpper, "0192F0C1-D2E3-7ABC-8DEF-0123456789AB"),
        (IdForm::Ulid, "01JBRC3MQ3FAY8VVR14D2PF2DB"),
        (IdForm::PrefixedHex, "0x0192f0c1d2e37abc8def0123456789ab"),
        (
            IdForm::PrefixedHexUpper,
            "0x0192F0C1D2E37ABC8DEF0123456789AB",
        ),
    ];

    #[test]
    fn digests_of_any_length_round_trip() {
        for bytes in [1, 12, 20, 28, 32, 40, 48, 64] {
            let blob: Vec<u8> = (0..bytes).map(|at: u8| at.wrapping_mul(7)).collect();
            for form in [
                IdForm::Hex,
                IdForm::HexUpper,
                IdForm::PrefixedHex,
                IdForm::PrefixedHexUpper,
            ] {
                let text = to_text(&blob, form).unwrap();
                assert_eq!(
                    to_blob(text.as_bytes(), form).as_deref(),
                    Some(&*blob),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn forms_round_trip_and_exclude_each_other() {
        let blob = to_blob(FORMS[0].1.as_bytes(), IdForm::Hex).unwrap();
        for (form, text) in FORMS {
            let bytes = to_blob(text.as_bytes(), form).expect(text);
            assert_eq!(to_text(&bytes, form).unwrap(), text);
            assert_eq!(bytes.len(), 16);
            if form != IdForm::Ulid {
                assert_eq!(bytes, blob);
            }
            let others = FORMS.iter().filter(|(other, _)| *other != form);
            for (other, _) in others {
                assert_eq!(to_blob(text.as_bytes(), *other), None, "{text} {other:?}");
            }
        }
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for text in [
            "",
            "0",
            "0g",
            "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
            "0192f0c1-d2e3-7abc-8def0-123456789ab",
        ] {
            for (form, _) in FORMS {
                assert_eq!(to_blob(text.as_bytes(), form), None, "{text} {form:?}");
            }
        }
    }
}
