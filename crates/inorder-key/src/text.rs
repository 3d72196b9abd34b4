//! Ids as text: hex digits, the hyphenated UUID form, and Crockford's base 32.

/// Both hex digits of every byte.
const HEX_PAIRS: [[u8; 2]; 256] = pairs(b"0123456789abcdef");
/// Both base 32 digits of every 10 bits, in Crockford's alphabet.
const CROCKFORD_PAIRS: [[u8; 2]; 1024] = pairs(b"0123456789ABCDEFGHJKMNPQRSTVWXYZ");

const fn pairs<const N: usize>(digits: &[u8]) -> [[u8; 2]; N] {
    let mut pairs = [[0; 2]; N];
    let mut i = 0;
    while i < N {
        pairs[i] = [digits[i / digits.len()], digits[i % digits.len()]];
        i += 1;
    }
    pairs
}

/// Writes each byte as two lower-case hex digits; `out` is twice as long as `bytes`.
#[inline]
pub(crate) fn write_hex(bytes: &[u8], out: &mut [u8]) {
    for (byte, pair) in bytes.iter().zip(out.as_chunks_mut().0) {
        *pair = HEX_PAIRS[usize::from(*byte)];
    }
}

/// Writes the 36 characters of a UUID (RFC 9562 section 4).
#[inline]
pub(crate) fn write_uuid(id: u128, out: &mut [u8; 36]) {
    let bytes = id.to_be_bytes();
    for (from, to) in [(0, 0), (4, 9), (6, 14), (8, 19), (10, 24)] {
        let until = match from {
            0 => 4,
            10 => 16,
            _ => from + 2,
        };
        write_hex(&bytes[from..until], &mut out[to..to + 2 * (until - from)]);
    }
    for hyphen in [8, 13, 18, 23] {
        out[hyphen] = b'-';
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuid_text_is_that_of_rfc_9562_appendix_a() {
        let mut text = [0; 36];
        write_uuid(0x017F22E2_79B0_7CC3_98C4_DC0C0C07398F, &mut text);
        assert_eq!(&text, b"017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
    }

    #[test]
    fn ulid_text_covers_both_ends() {
        let mut text = [0; 26];
        write_ulid(u128::MAX, &mut text);
        assert_eq!(&text, b"7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
        write_ulid(1 << 60 | 31, &mut text);
        assert_eq!(&text, b"0000000000000100000000000Z");
    }
}
