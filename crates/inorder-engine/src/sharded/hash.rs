//! The hash of PostgreSQL's hash partitions, so that this process can compute the shard of a row. It is Bob Jenkins'
//! lookup3 with a seed, as in `src/common/hashfn.c` and `compute_partition_hash_value` of
//! `src/backend/partitioning/partbounds.c` of PostgreSQL 11 and later, on little-endian machines. A test compares it
//! with the server's `satisfies_hash_partition`.

/// `HASH_PARTITION_SEED`.
const SEED: u64 = 0x7a5b_2236_7996_dcfd;

/// Constant that is added to the hash of the only partition column to get the hash of the row.
const COMBINED: u64 = 0x49a0_f4dd_15e5_a8e3;

/// Hashes a value of `smallint` or `integer`.
pub fn of_i32(value: i32) -> u64 {
    let [mut a, mut b, mut c] = seeded(4);
    a = a.wrapping_add(value.cast_unsigned());
    finish(&mut a, &mut b, &mut c)
}

/// Hashes a `bigint`. A value in the range of `integer` has the hash of the `integer`.
pub fn of_i64(value: i64) -> u64 {
    let high = (value >> 32) as i32;
    of_i32(value as i32 ^ if value >= 0 { high } else { !high })
}

/// Hashes the bytes of a `uuid`, a `bytea`, or a text with a deterministic collation.
pub fn of_bytes(bytes: &[u8]) -> u64 {
    let [mut a, mut b, mut c] = seeded(bytes.len());
    let (blocks, rest) = bytes.as_chunks::<12>();
    for block in blocks {
        let (words, _) = block.as_chunks::<4>();
        a = a.wrapping_add(u32::from_le_bytes(words[0]));
        b = b.wrapping_add(u32::from_le_bytes(words[1]));
        c = c.wrapping_add(u32::from_le_bytes(words[2]));
        mix(&mut a, &mut b, &mut c);
    }
    // The lowest byte of the last word is left to the length.
    let mut last = [0; 12];
    let (front, back) = rest.split_at(rest.len().min(8));
    last[..front.len()].copy_from_slice(front);
    last[9..9 + back.len()].copy_from_slice(back);
    let (words, _) = last.as_chunks::<4>();
    a = a.wrapping_add(u32::from_le_bytes(words[0]));
    b = b.wrapping_add(u32::from_le_bytes(words[1]));
    c = c.wrapping_add(u32::from_le_bytes(words[2]));
    finish(&mut a, &mut b, &mut c)
}

/// Returns the remainder of the partition for this hash. NULL has no hash.
pub fn remainder(hash: Option<u64>, modulus: usize) -> usize {
    let row = hash.map_or(0, |hash| hash.wrapping_add(COMBINED));
    (row % modulus as u64) as usize
}

/// Returns the state before the first of `length` bytes.
fn seeded(length: usize) -> [u32; 3] {
    let begin = 0x9e37_79b9_u32
        .wrapping_add(length as u32)
        .wrapping_add(3_923_095);
    let mut a = begin.wrapping_add((SEED >> 32) as u32);
    let mut b = begin.wrapping_add(SEED as u32);
    let mut c = begin;
    mix(&mut a, &mut b, &mut c);
    [a, b, c]
}

fn mix(a: &mut u32, b: &mut u32, c: &mut u32) {
    let round = |x: &mut u32, y: &mut u32, z: &mut u32, by: u32| {
        *x = x.wrapping_sub(*z) ^ z.rotate_left(by);
        *z = z.wrapping_add(*y);
    };
    round(a, b, c, 4);
    round(b, c, a, 6);
    round(c, a, b, 8);
    round(a, b, c, 16);
    round(b, c, a, 19);
    round(c, a, b, 4);
}

fn finish(a: &mut u32, b: &mut u32, c: &mut u32) -> u64 {
    let round = |x: &mut u32, y: &mut u32, by: u32| {
        *x = (*x ^ *y).wrapping_sub(y.rotate_left(by));
    };
    round(c, b, 14);
    round(a, c, 11);
    round(b, a, 25);
    round(c, b, 16);
    round(a, c, 4);
    round(b, a, 14);
    round(c, b, 24);
    u64::from(*b) << 32 | u64::from(*c)
}
