//! Base64 as clients send it.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

/// Base64 as Erlang reads it: bits after the last byte do not matter.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Characters that are decoded at a time.
const GROUP: usize = 4;

/// Decodes base64, also with spaces and line breaks as MIME writes it.
pub fn decode(data: &str) -> Option<Vec<u8>> {
    let mut decoder = Base64Decoder::default();
    let mut decoded = Vec::with_capacity(data.len() / GROUP * 3 + 3);
    decoder.write(data.as_bytes(), &mut decoded)?;
    decoder.finish(&mut decoded)?;
    Some(decoded)
}

/// Decodes base64 that arrives in pieces.
#[derive(Debug, Default)]
pub struct Base64Decoder {
    /// The last characters, which may be the end.
    waiting: Vec<u8>,
}

impl Base64Decoder {
    /// Takes characters and appends the decoded bytes. Returns none if they are not base64.
    pub fn write(&mut self, data: &[u8], decoded: &mut Vec<u8>) -> Option<()> {
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        match data.iter().any(is_space) {
            false => self.waiting.extend_from_slice(data),
            true => {
                let characters = data.iter().filter(|byte| !is_space(byte));
                self.waiting.extend(characters);
            }
        }
        let certain = self.waiting.len().saturating_sub(1) / GROUP * GROUP;
        let (groups, rest) = self.waiting.split_at(certain);
        // Padding is at the end only.
        if groups.contains(&b'=') {
            return None;
        }
        BASE64.decode_vec(groups, decoded).ok()?;
        self.waiting = rest.to_vec();
        Some(())
    }

    /// Appends the last bytes. Returns none if the text ended too early.
    pub fn finish(self, decoded: &mut Vec<u8>) -> Option<()> {
        BASE64.decode_vec(&self.waiting, decoded).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_give_what_the_whole_gives(
            text in "[A-Za-z0-9+/]{0,9}[ =\n?]{0,3}[A-D]{0,3}={0,2}",
            piece_bytes in 1_usize..6,
        ) {
            let characters: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
            let expected = BASE64.decode(characters).ok();
            prop_assert_eq!(decode(&text), expected.clone());
            let (mut decoder, mut decoded) = (Base64Decoder::default(), Vec::new());
            let written: Option<()> = text
                .as_bytes()
                .chunks(piece_bytes)
                .try_for_each(|piece| decoder.write(piece, &mut decoded));
            let done = written.and_then(|()| decoder.finish(&mut decoded));
            prop_assert_eq!(done.map(|()| decoded), expected);
        }
    }
}
