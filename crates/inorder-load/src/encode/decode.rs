//! Decodes text to bytes: hex, UUID, ULID, base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use inorder_key::{Ulid, Uuid};

/// The decoding of a column's text to bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decode {
    /// The 36 characters of a UUID: 16 bytes.
    Uuid,
    /// The 26 characters of a ULID: 16 bytes.
    Ulid,
    /// Hex digits, two a byte, also as `0x…`, `\x…` or `x'…'`.
    Hex,
    /// Hex digits in one of the last three writings, which no word has.
    MarkedHex,
    /// Base64 of RFC 4648, section 4, with its padding.
    Base64,
}

/// Characters of a UUID and of a ULID. Both are read from 32 hex digits too, which may be any other bytes.
const UUID_CHARS: usize = 36;
const ULID_CHARS: usize = 26;

impl Decode {
    /// All decodings that have a name of their own, the narrowest first.
    pub const ALL: &[Decode] = &[Decode::Uuid, Decode::Ulid, Decode::Hex, Decode::Base64];

    /// Those that values which a column would store as text are decoded by without being told to, if one fits all sampled
    /// values: a word such as `cafe` has hex digits too.
    pub(crate) const SURE: &[Decode] = &[
        Decode::Uuid,
        Decode::Ulid,
        Decode::MarkedHex,
        Decode::Base64,
    ];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Decode::Uuid => "uuid",
            Decode::Ulid => "ulid",
            Decode::Hex | Decode::MarkedHex => "hex",
            Decode::Base64 => "base64",
        }
    }

    /// Returns the way of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|way| way.name() == name)
    }

    /// Writes the bytes that a text stands for to the beginning of `out`, which is at least as long as the
    /// text, and says how many; `None` where it stands for none.
    #[inline]
    pub(super) fn decode(self, text: &[u8], out: &mut [u8]) -> Option<usize> {
        match self {
            Decode::Uuid if text.len() == UUID_CHARS => {
                let id: Uuid = std::str::from_utf8(text).ok()?.parse().ok()?;
                out.first_chunk_mut()?
                    .clone_from(&id.to_u128().to_be_bytes());
                Some(16)
            }
            Decode::Ulid if text.len() == ULID_CHARS => {
                let id: Ulid = std::str::from_utf8(text).ok()?.parse().ok()?;
                out.first_chunk_mut()?
                    .clone_from(&id.to_u128().to_be_bytes());
                Some(16)
            }
            Decode::Uuid | Decode::Ulid => None,
            Decode::Hex => hex(digits(text), out),
            Decode::MarkedHex => {
                let digits = digits(text);
                (digits.len() < text.len()).then(|| hex(digits, out))?
            }
            Decode::Base64 => STANDARD.decode_slice(text, out).ok(),
        }
    }

    /// Whether a text stands for bytes this way.
    pub(crate) fn fits(self, text: &[u8], scratch: &mut Vec<u8>) -> bool {
        scratch.resize(text.len() + 16, 0);
        self.decode(text, scratch).is_some()
    }
}

/// The digits without what languages put around them.
fn digits(text: &[u8]) -> &[u8] {
    match text {
        [b'0' | b'\\', b'x', digits @ ..] => digits,
        [b'x' | b'X', b'\'', digits @ .., b'\''] => digits,
        digits => digits,
    }
}

fn hex(digits: &[u8], out: &mut [u8]) -> Option<usize> {
    let value = |digit: u8| (digit as char).to_digit(16);
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    for (pair, byte) in digits.chunks_exact(2).zip(&mut *out) {
        *byte = (value(pair[0])? << 4 | value(pair[1])?) as u8;
    }
    Some(digits.len() / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(way: Decode, text: &str) -> Option<Vec<u8>> {
        let mut out = vec![0; text.len() + 16];
        let bytes = way.decode(text.as_bytes(), &mut out)?;
        out.truncate(bytes);
        Some(out)
    }

    #[test]
    fn each_way_reads_its_own_and_refuses_the_rest() {
        let bytes = Some(vec![0x01, 0x7f]);
        for text in ["017f", "017F", "0x017f", "\\x017f", "x'017f'", "X'017f'"] {
            assert_eq!(decoded(Decode::Hex, text), bytes, "{text}");
        }
        assert_eq!(decoded(Decode::Base64, "AX8="), bytes);
        assert_eq!(decoded(Decode::Hex, ""), Some(vec![]));
        for text in ["017", "0g", "x'0", "AX8=", "é0"] {
            assert_eq!(decoded(Decode::Hex, text), None, "{text}");
        }
        for text in ["AX8", "A X8=", "====", "017f!"] {
            assert_eq!(decoded(Decode::Base64, text), None, "{text}");
        }
        let uuid = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
        let ulid = "01FWHE4YDGFK1SHH6W1G60EECF";
        assert_eq!(decoded(Decode::Uuid, uuid), decoded(Decode::Ulid, ulid));
        assert_eq!(decoded(Decode::Uuid, uuid).map(|id| id.len()), Some(16));
        assert_eq!(decoded(Decode::Uuid, ulid), None);
        assert_eq!(decoded(Decode::Ulid, uuid), None);
        let digits = uuid.replace('-', "");
        for text in [
            &*digits,
            &format!("{{{uuid}}}"),
            &format!("urn:uuid:{uuid}"),
        ] {
            assert_eq!(decoded(Decode::Uuid, text), None, "{text}");
            assert_eq!(decoded(Decode::Ulid, text), None, "{text}");
        }
        assert_eq!(decoded(Decode::Hex, &digits), decoded(Decode::Uuid, uuid));
    }
}
