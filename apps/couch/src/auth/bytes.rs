//! Random bytes, bytes as hexadecimal digits, and comparisons in constant time.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).expect("below 16");
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(digit).collect()
}

/// Reads hexadecimal digits.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let nibble = |digit: &u8| char::from(*digit).to_digit(16);
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some((nibble(high)? << 4 | nibble(low)?) as u8),
            _ => None,
        })
        .collect()
}

/// Bytes from the system's random source.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has a random source");
    bytes
}

/// Compares in a time that tells nothing about where they differ.
pub fn same(a: &[u8], b: &[u8]) -> bool {
    let mac = |data: &[u8]| {
        let mut mac = Hmac::<Sha256>::new_from_slice(b"compare").expect("any length");
        mac.update(data);
        mac
    };
    mac(a).verify_slice(&mac(b).finalize().into_bytes()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_goes_both_ways() {
        assert_eq!(hex(&[0, 10, 255]), "000aff");
        assert_eq!(unhex("000aFF"), Some(vec![0, 10, 255]));
        assert_eq!((unhex("0"), unhex("0g")), (None, None));
    }
}
