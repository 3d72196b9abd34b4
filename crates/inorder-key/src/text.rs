//! Ids as text: hex digits, the hyphenated UUID form, and Crockford's base 32.

use crate::Error;

const HEX_DIGITS: &[u8] = b"0123456789abcdef";
const CROCKFORD_DIGITS: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The digits of every byte, or of every 10 bits.
const HEX_PAIRS: [[u8; 2]; 256] = pairs(HEX_DIGITS);
const CROCKFORD_PAIRS: [[u8; 2]; 1024] = pairs(CROCKFORD_DIGITS);

/// The value of every character in both cases, or [`NO_DIGIT`].
const HEX_VALUES: [u8; 256] = values(HEX_DIGITS);
const CROCKFORD_VALUES: [u8; 256] = values(CROCKFORD_DIGITS);

/// A bit that no digit value has.
const NO_DIGIT: u8 = 0x80;

/// Start of each group of hex digits in a UUID: byte of the id, then character of the text. Hyphens are between the
/// groups.
const UUID_GROUPS: [(usize, usize); 5] = [(0, 0), (4, 9), (6, 14), (8, 19), (10, 24)];
const UUID_HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// Hex digits of 128 bits.
const HEX_DIGITS_OF_AN_ID: usize = 32;

/// Names of ids in errors.
const A_ULID: &str = "a ULID";
const A_UUID: &str = "a UUID";
const A_TSID: &str = "a TSID";
const A_SUFFIX: &str = "the suffix of a TypeID";

/// The unit of the length of a ULID or UUID.
const OR_HEX: &str = "characters or 32 hex digits";

const fn pairs<const N: usize>(digits: &[u8]) -> [[u8; 2]; N] {
    let mut pairs = [[0; 2]; N];
    let mut i = 0;
    while i < N {
        pairs[i] = [digits[i / digits.len()], digits[i % digits.len()]];
        i += 1;
    }
    pairs
}

const fn values(digits: &[u8]) -> [u8; 256] {
    let mut values = [NO_DIGIT; 256];
    let mut i = 0;
    while i < digits.len() {
        values[digits[i].to_ascii_uppercase() as usize] = i as u8;
        values[digits[i].to_ascii_lowercase() as usize] = i as u8;
        i += 1;
    }
    values
}

/// Writes each byte as two lower-case hex digits; `out` is twice as long as `bytes`.
#[inline]
pub(crate) fn write_hex(bytes: &[u8], out: &mut [u8]) {
    for (byte, pair) in bytes.iter().zip(out.as_chunks_mut().0) {
        *pair = HEX_PAIRS[usize::from(*byte)];
    }
}

/// Reads two hex digits of either case into each byte of `out`; `text` has twice its length.
///
/// # Errors
/// [`Error::Character`] with the position in `text`.
#[inline]
pub(crate) fn read_hex(what: &'static str, text: &[u8], out: &mut [u8]) -> Result<(), Error> {
    let mut seen = 0;
    for (byte, pair) in out.iter_mut().zip(text.as_chunks::<2>().0) {
        let [high, low] = pair.map(|digit| HEX_VALUES[usize::from(digit)]);
        seen |= high | low;
        *byte = high << 4 | low;
    }
    match seen & NO_DIGIT {
        0 => Ok(()),
        _ => Err(first_wrong(what, text, 0, |_, c| {
            HEX_VALUES[usize::from(c)] != NO_DIGIT
        })),
    }
}

/// Writes the 36 characters of a UUID in lower case (RFC 9562 section 4).
#[inline]
pub(crate) fn write_uuid(id: u128, out: &mut [u8; 36]) {
    let bytes = id.to_be_bytes();
    for (i, (from, at)) in UUID_GROUPS.into_iter().enumerate() {
        let until = UUID_GROUPS.get(i + 1).map_or(16, |next| next.0);
        write_hex(&bytes[from..until], &mut out[at..at + 2 * (until - from)]);
    }
    for hyphen in UUID_HYPHENS {
        out[hyphen] = b'-';
    }
}

/// Reads a UUID in either case: 36 characters, the same in braces or after `urn:uuid:`, or 32 hex digits.
///
/// # Errors
/// [`Error::Length`] or [`Error::Character`].
#[inline]
pub(crate) fn read_uuid(text: &[u8]) -> Result<u128, Error> {
    match text.len() {
        36 => read_groups(text, 0),
        HEX_DIGITS_OF_AN_ID => read_digits(A_UUID, text),
        _ => read_enclosed(text),
    }
}

/// Reads a UUID in braces or after `urn:uuid:`.
fn read_enclosed(text: &[u8]) -> Result<u128, Error> {
    const URN: &[u8] = b"urn:uuid:";
    if let [b'{', groups @ .., b'}'] = text
        && groups.len() == 36
    {
        return read_groups(groups, 1);
    }
    match text.split_at_checked(URN.len()) {
        Some((urn, groups)) if urn.eq_ignore_ascii_case(URN) && groups.len() == 36 => {
            read_groups(groups, URN.len())
        }
        _ => Err(length(A_UUID, 36, OR_HEX, text)),
    }
}

/// Reads the five groups of hex digits of a UUID, after `before` other characters.
///
/// # Errors
/// [`Error::Character`], or [`Error::Length`] if they are not 36 characters.
#[inline]
fn read_groups(text: &[u8], before: usize) -> Result<u128, Error> {
    let text: &[u8; 36] = text
        .try_into()
        .map_err(|_| length(A_UUID, 36, OR_HEX, text))?;
    let mut bytes = [0; 16];
    let mut is_wrong = UUID_HYPHENS.iter().any(|&hyphen| text[hyphen] != b'-');
    for (i, (from, at)) in UUID_GROUPS.into_iter().enumerate() {
        let until = UUID_GROUPS.get(i + 1).map_or(16, |next| next.0);
        let group = &text[at..at + 2 * (until - from)];
        is_wrong |= read_hex(A_UUID, group, &mut bytes[from..until]).is_err();
    }
    if is_wrong {
        return Err(first_wrong(A_UUID, text, before, |at, c| match c {
            b'-' => UUID_HYPHENS.contains(&at),
            _ => HEX_VALUES[usize::from(c)] != NO_DIGIT && !UUID_HYPHENS.contains(&at),
        }));
    }
    Ok(u128::from_be_bytes(bytes))
}

/// Reads the 32 hex digits of a UUID or ULID, as ORMs store them.
fn read_digits(what: &'static str, text: &[u8]) -> Result<u128, Error> {
    let mut bytes = [0; 16];
    read_hex(what, text, &mut bytes)?;
    Ok(u128::from_be_bytes(bytes))
}

/// Writes the 26 characters of a ULID.
#[inline]
pub(crate) fn write_ulid(id: u128, out: &mut [u8; 26]) {
    let (first, rest) = out.split_at_mut(2);
    first.copy_from_slice(&CROCKFORD_PAIRS[(id >> 120) as usize]);
    for (half, out) in [(id >> 60) as u64, id as u64]
        .into_iter()
        .zip(rest.chunks_exact_mut(12))
    {
        for (i, pair) in out.as_chunks_mut().0.iter_mut().enumerate() {
            *pair = CROCKFORD_PAIRS[(half >> (50 - 10 * i)) as usize % 1024];
        }
    }
}

/// Writes the 13 characters of a TSID.
#[inline]
pub(crate) fn write_tsid(id: u64, out: &mut [u8; 13]) {
    let (first, rest) = out.split_at_mut(1);
    first[0] = CROCKFORD_DIGITS[(id >> 60) as usize];
    for (i, pair) in rest.as_chunks_mut().0.iter_mut().enumerate() {
        *pair = CROCKFORD_PAIRS[(id >> (50 - 10 * i)) as usize % 1024];
    }
}

/// Reads a ULID in either case: 26 characters, or 32 hex digits.
///
/// The characters I, L, O and U are errors, although some decoders of Crockford's alphabet accept them. Otherwise two
/// texts could be the same id.
///
/// # Errors
/// [`Error::Length`], [`Error::Character`] or [`Error::TooLarge`].
#[inline]
pub(crate) fn read_ulid(text: &[u8]) -> Result<u128, Error> {
    match <&[u8; 26]>::try_from(text) {
        Ok(text) => read_crockford(A_ULID, 128, text),
        Err(_) if text.len() == HEX_DIGITS_OF_AN_ID => read_digits(A_ULID, text),
        Err(_) => Err(length(A_ULID, 26, OR_HEX, text)),
    }
}

/// Reads the 13 characters of a TSID in either case.
///
/// # Errors
/// [`Error::Length`], [`Error::Character`] or [`Error::TooLarge`].
#[inline]
pub(crate) fn read_tsid(text: &[u8]) -> Result<u64, Error> {
    let text = text
        .try_into()
        .map_err(|_| length(A_TSID, 13, "characters", text))?;
    read_crockford::<13>(A_TSID, 63, text).map(|id| id as u64)
}

/// Reads the 26 lower-case characters of a TypeID's suffix.
///
/// # Errors
/// [`Error::Length`], [`Error::Character`] or [`Error::TooLarge`].
pub(crate) fn read_suffix(text: &[u8]) -> Result<u128, Error> {
    let text: &[u8; 26] = text
        .try_into()
        .map_err(|_| length(A_SUFFIX, 26, "characters", text))?;
    if text.iter().any(u8::is_ascii_uppercase) {
        return Err(first_wrong(A_SUFFIX, text, 0, |_, c| {
            c.is_ascii() && !c.is_ascii_uppercase()
        }));
    }
    read_crockford(A_SUFFIX, 128, text)
}

/// Reads digits of Crockford's base 32, of which the first is 0 to 7: a multiple of twelve and one or two more.
///
/// # Errors
/// [`Error::Character`] or [`Error::TooLarge`].
#[inline]
fn read_crockford<const N: usize>(
    what: &'static str,
    bits: u32,
    text: &[u8; N],
) -> Result<u128, Error> {
    let mut seen = 0;
    let mut number = |digits: &[u8]| {
        digits.iter().fold(0u64, |number, &digit| {
            let value = CROCKFORD_VALUES[usize::from(digit)];
            seen |= value;
            number << 5 | u64::from(value & !NO_DIGIT)
        })
    };
    let (first, rest) = text.split_at(N % 12);
    let top = number(first);
    let id = rest
        .as_chunks::<12>()
        .0
        .iter()
        .fold(u128::from(top), |id, digits| {
            id << 60 | u128::from(number(digits))
        });
    if seen & NO_DIGIT != 0 {
        return Err(first_wrong(what, text, 0, |_, c| {
            CROCKFORD_VALUES[usize::from(c)] != NO_DIGIT
        }));
    }
    if CROCKFORD_VALUES[usize::from(text[0])] > 7 {
        return Err(Error::TooLarge {
            what,
            bits,
            found: text[0],
        });
    }
    Ok(id)
}

/// Creates the error for a text of another length than the id's. A character that is not ASCII is wrong at any length.
#[cold]
pub(crate) fn length(
    what: &'static str,
    expected: usize,
    unit: &'static str,
    text: &[u8],
) -> Error {
    match text.is_ascii() {
        true => Error::Length {
            what,
            expected,
            found: text.len(),
            unit,
        },
        false => first_wrong(what, text, 0, |_, c| c.is_ascii()),
    }
}

/// Creates the error for the first invalid character, after `before` others.
#[cold]
fn first_wrong(
    what: &'static str,
    text: &[u8],
    before: usize,
    is_right: impl Fn(usize, u8) -> bool,
) -> Error {
    let wrong = text.iter().enumerate().find(|&(i, &c)| !is_right(i, c));
    let (at, &byte) = wrong.expect("a wrong character");
    let rest = text[at..].utf8_chunks().next();
    let character = rest.and_then(|chunk| chunk.valid().chars().next());
    Error::Character {
        what,
        found: character.unwrap_or(byte.into()),
        at: before + at + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ulid_text_covers_both_ends() {
        let mut text = [0; 26];
        write_ulid(u128::MAX, &mut text);
        assert_eq!(&text, b"7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
        assert_eq!(read_ulid(&text), Ok(u128::MAX));
        write_ulid(1 << 60 | 31, &mut text);
        assert_eq!(&text, b"0000000000000100000000000Z");
        assert_eq!(read_ulid(&text), Ok(1 << 60 | 31));
    }

    #[test]
    fn every_wrong_character_is_found_where_it_is() {
        let uuid = *b"017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
        for at in 0..36 {
            for found in 0..=255u8 {
                let mut text = uuid;
                text[at] = found;
                let is_hyphen = UUID_HYPHENS.contains(&at);
                let is_right =
                    (is_hyphen && found == b'-') || (!is_hyphen && found.is_ascii_hexdigit());
                let wrong = Error::Character {
                    what: "a UUID",
                    found: found.into(),
                    at: at + 1,
                };
                assert_eq!(read_uuid(&text).err(), (!is_right).then_some(wrong));
            }
        }
        for at in 0..26 {
            for found in 0..=255u8 {
                let mut text = *b"01BX5ZZKBKACTAV9WEVGEMMVRZ";
                text[at] = found;
                let is_right = CROCKFORD_DIGITS.contains(&found.to_ascii_uppercase());
                let wrong = match is_right {
                    false => Some(Error::Character {
                        what: "a ULID",
                        found: found.into(),
                        at: at + 1,
                    }),
                    true if at == 0 && found > b'7' => Some(Error::TooLarge {
                        what: "a ULID",
                        bits: 128,
                        found,
                    }),
                    true => None,
                };
                assert_eq!(read_ulid(&text).err(), wrong);
            }
        }
    }

    #[test]
    fn wrong_lengths_are_errors() {
        for length in (0..60).filter(|&length| length != 26 && length != 32) {
            let error = read_ulid(&vec![b'0'; length]).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("a ULID has 26 characters or 32 hex digits, not {length}")
            );
        }
        for length in (0..60).filter(|&length| length != 36 && length != 32) {
            let error = read_uuid(&vec![b'0'; length]).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("a UUID has 36 characters or 32 hex digits, not {length}")
            );
        }
    }

    #[test]
    fn errors_in_other_forms_count_from_the_beginning_of_the_text() {
        for (text, at) in [
            ("{017f22e2-79b0-7cc3-98c4-dc0c0c07398g}", 37),
            ("URN:uuid:017f22e279b0-7cc3-98c4-dc0c0c07398f0", 18),
            ("017f22e279b07cc398c4dc0c0c07398g", 32),
        ] {
            let error = read_uuid(text.as_bytes()).unwrap_err();
            assert!(
                error.to_string().ends_with(&format!("position {at}")),
                "{error}"
            );
        }
    }
}
