//! Numbers that differ where records do, but for one accident in 2^64. They are no protection against malice.

use inorder_btree::Value;

const SEEDS: [u64; 4] = [
    0x9e37_79b9_7f4a_7c15,
    0xd6e8_feb8_6659_fd93,
    0xa076_1d64_78bd_642f,
    0xe703_7ed1_a0b4_28db,
];

/// Multiplies and folds: every bit of the result depends on most bits of both.
#[inline]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// The first 8 or 4 bytes as a number.
#[inline(always)]
fn eight(bytes: &[u8]) -> u64 {
    bytes
        .first_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[inline(always)]
fn four(bytes: &[u8]) -> u64 {
    let bytes = bytes
        .first_chunk()
        .map_or(0, |bytes| u32::from_le_bytes(*bytes));
    u64::from(bytes)
}

/// The digest of bytes after what was digested before.
#[inline]
pub(super) fn bytes(before: u64, bytes: &[u8]) -> u64 {
    let digest = before ^ (bytes.len() as u64).wrapping_mul(SEEDS[0]);
    // Most values are short: their first and last eight bytes, which overlap, are all.
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) if bytes.len() <= 16 => {
            let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
            mix(first ^ SEEDS[0] ^ digest, last ^ SEEDS[1])
        }
        _ => shorter_or_longer(digest, bytes),
    }
}

/// The digest of fewer than 8 or more than 16 bytes, after that of what comes before and their number.
fn shorter_or_longer(mut digest: u64, bytes: &[u8]) -> u64 {
    let mut rest = bytes;
    // The products of both halves do not wait for each other.
    while rest.len() > 32 {
        let first = mix(
            eight(rest) ^ SEEDS[0],
            eight(&rest[8..]) ^ digest ^ SEEDS[1],
        );
        let second = mix(
            eight(&rest[16..]) ^ SEEDS[2],
            eight(&rest[24..]) ^ digest ^ SEEDS[3],
        );
        digest = first ^ second;
        rest = &rest[32..];
    }
    if rest.len() > 16 {
        digest = mix(
            eight(rest) ^ SEEDS[0],
            eight(&rest[8..]) ^ digest ^ SEEDS[1],
        );
        rest = &rest[16..];
    }
    // The last bytes are read from both ends, and the parts overlap.
    let (first, last) = match rest.len() {
        0 => (0, 0),
        1..4 => {
            let middle = u64::from(rest[rest.len() / 2]);
            let ends = u64::from(rest[0]) << 8 | u64::from(rest[rest.len() - 1]);
            (middle << 16 | ends, 0)
        }
        4..8 => (four(rest), four(&rest[rest.len() - 4..])),
        _ => (eight(rest), eight(&rest[rest.len() - 8..])),
    };
    mix(first ^ SEEDS[0] ^ digest, last ^ SEEDS[1])
}

/// The digest of a value after those before it: of its storage class and what it is, not how it is encoded.
#[inline(always)]
pub(super) fn value(before: u64, value: Value<'_>) -> u64 {
    match value {
        Value::Null => fixed(before, 1, 0),
        Value::Integer(integer) => fixed(before, 2, integer as u64),
        Value::Real(real) => fixed(before, 3, real.to_bits()),
        Value::Text(text) => bytes(before ^ TEXT, text),
        Value::Blob(blob) => bytes(before ^ BLOB, blob),
    }
}

/// The digest of values as they are encoded, after those before them: of their serial types and the bytes of all.
#[inline(always)]
pub(super) fn encoded(before: u64, types: impl Iterator<Item = u32>, body: &[u8]) -> u64 {
    // Each step is one to one for the types before, and for each type.
    let types = types.fold(before, |digest, serial_type| {
        (digest ^ u64::from(serial_type)).wrapping_mul(SEEDS[2])
    });
    bytes(types, body)
}

/// What the digests of texts and of blobs begin with.
const TEXT: u64 = SEEDS[0].rotate_left(17);
const BLOB: u64 = SEEDS[1].rotate_left(31);

/// The digest of a number of a class.
#[inline(always)]
fn fixed(before: u64, class: u64, number: u64) -> u64 {
    mix(
        number ^ SEEDS[0],
        before ^ SEEDS[1].wrapping_mul(2 * class + 1),
    )
}

/// The digest of the entries of a tree in their order, and how many they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct InOrder {
    entries: u64,
    digest: u64,
}

impl InOrder {
    #[inline]
    pub(super) fn add(&mut self, rowid: i64, record: &[u8]) {
        self.entries += 1;
        self.digest = bytes(self.digest ^ rowid as u64, record);
    }
}

/// The digest of rows in any order, and how many they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Sum {
    pub(super) rows: u64,
    digest: u64,
}

impl Sum {
    #[inline]
    pub(super) fn add(&mut self, digest: u64) {
        self.rows += 1;
        self.digest = self.digest.wrapping_add(mix(digest ^ SEEDS[1], SEEDS[0]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_a_record_counts() {
        let record: Vec<u8> = (0..53).collect();
        let whole = bytes(0, &record);
        for bit in 0..8 * record.len() {
            let mut other = record.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(bytes(0, &other), whole, "bit {bit}");
        }
        for length in 0..record.len() {
            assert_ne!(bytes(0, &record[..length]), whole);
        }
    }

    #[test]
    fn storage_classes_count_and_order_does_where_it_is_to() {
        let values = [
            Value::Null,
            Value::Integer(0),
            Value::Real(0.0),
            Value::Text(b""),
            Value::Blob(b""),
        ];
        let digests: std::collections::BTreeSet<u64> =
            values.iter().map(|own| value(7, *own)).collect();
        assert_eq!(digests.len(), values.len());
        let (mut forth, mut back) = (InOrder::default(), InOrder::default());
        let (mut sum, mut other) = (Sum::default(), Sum::default());
        for (a, b) in [(1, 2), (2, 1)] {
            forth.add(a, b"x");
            back.add(b, b"x");
            sum.add(a as u64);
            other.add(b as u64);
        }
        assert_ne!(forth, back);
        assert_eq!(sum, other);
    }
}
