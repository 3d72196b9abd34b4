//! SQLite's variable-length integers: 1 to 9 bytes, big-endian, 7 bits in each of the first 8.
//!
//! Source: <https://www.sqlite.org/fileformat2.html#varint>.

/// The length of the longest varint, in bytes.
pub const BYTES_MAX: usize = 9;

/// Returns the bytes that a number takes, 1 to 9.
#[inline]
#[must_use]
pub fn len(value: u64) -> usize {
    if value < 0x80 {
        return 1;
    }
    let bits = 64 - (value | 1).leading_zeros() as usize;
    bits.div_ceil(7).min(BYTES_MAX)
}

/// Writes a number to the beginning of a buffer. Returns the bytes written.
///
/// # Panics
///
/// If the buffer is shorter than [`len`] of the number.
#[inline]
pub fn write(value: u64, out: &mut [u8]) -> usize {
    let part = |shift: u32| (value >> shift) as u8;
    match value {
        0..0x80 => {
            out[0] = part(0);
            1
        }
        0x80..0x4000 => {
            out[..2].copy_from_slice(&[part(7) | 0x80, part(0) & 0x7f]);
            2
        }
        0x4000..0x20_0000 => {
            out[..3].copy_from_slice(&[part(14) | 0x80, part(7) | 0x80, part(0) & 0x7f]);
            3
        }
        0x20_0000..0x1000_0000 => {
            let high = [part(21) | 0x80, part(14) | 0x80, part(7) | 0x80];
            out[..4].copy_from_slice(&[high[0], high[1], high[2], part(0) & 0x7f]);
            4
        }
        _ => write_long(value, out),
    }
}

fn write_long(mut value: u64, out: &mut [u8]) -> usize {
    let len = len(value);
    if len == BYTES_MAX {
        out[8] = value as u8;
        value >>= 8;
    } else {
        out[len - 1] = value as u8 & 0x7f;
        value >>= 7;
    }
    for byte in out[..len - 1].iter_mut().rev() {
        *byte = value as u8 | 0x80;
        value >>= 7;
    }
    len
}

/// Appends a number to a buffer.
#[inline(always)]
pub fn push(value: u64, out: &mut Vec<u8>) {
    match value {
        0..0x80 => out.push(value as u8),
        0x80..0x4000 => out.extend_from_slice(&[(value >> 7) as u8 | 0x80, value as u8 & 0x7f]),
        _ => push_long(value, out),
    }
}

#[cold]
fn push_long(value: u64, out: &mut Vec<u8>) {
    let mut bytes = [0; BYTES_MAX];
    let len = write_long(value, &mut bytes);
    out.extend_from_slice(&bytes[..len]);
}

/// Returns the number at the beginning of `bytes` and its length; `None` if the bytes end within it.
#[inline]
#[must_use]
pub fn read(bytes: &[u8]) -> Option<(u64, usize)> {
    match *bytes {
        [byte @ 0..0x80, ..] => Some((u64::from(byte), 1)),
        [a, b @ 0..0x80, ..] => Some((u64::from(a & 0x7f) << 7 | u64::from(b), 2)),
        [a, b, c @ 0..0x80, ..] => {
            let high = u64::from(a & 0x7f) << 14 | u64::from(b & 0x7f) << 7;
            Some((high | u64::from(c), 3))
        }
        [a, b, c, d @ 0..0x80, ..] => {
            let high = u64::from(a & 0x7f) << 21 | u64::from(b & 0x7f) << 14;
            Some((high | u64::from(c & 0x7f) << 7 | u64::from(d), 4))
        }
        _ => read_long(bytes),
    }
}

fn read_long(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (i, &byte) in bytes.iter().take(BYTES_MAX - 1).enumerate() {
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((value, i + 1));
        }
    }
    let last = bytes.get(BYTES_MAX - 1)?;
    Some((value << 8 | u64::from(*last), BYTES_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lengths_change_where_sqlite_says() {
        for (value, bytes) in [
            (0, 1),
            (0x7f, 1),
            (0x80, 2),
            (0x3fff, 2),
            (0x4000, 3),
            ((1 << 56) - 1, 8),
            (1 << 56, 9),
            (u64::MAX, 9),
        ] {
            assert_eq!(len(value), bytes, "{value:#x}");
        }
    }

    #[test]
    fn an_unfinished_number_is_none() {
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[0x80]), None);
        assert_eq!(read(&[0xff; 8]), None);
    }

    proptest! {
        #[test]
        fn what_is_pushed_is_read(shift in 0..64u32, bits: u64, tail: Vec<u8>) {
            let value = bits >> shift;
            let mut bytes = Vec::new();
            push(value, &mut bytes);
            prop_assert_eq!(bytes.len(), len(value));
            let mut written = [0; BYTES_MAX];
            let n = write(value, &mut written);
            prop_assert_eq!(&written[..n], &bytes[..]);
            bytes.extend(&tail);
            prop_assert_eq!(read(&bytes), Some((value, len(value))));
        }
    }
}
