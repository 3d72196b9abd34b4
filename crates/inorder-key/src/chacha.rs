//! ChaCha with 8 rounds, sixteen blocks side by side.
// `keystream` serves processors with wide registers; the tests run it everywhere.
#![cfg_attr(not(any(target_arch = "x86_64", test)), allow(dead_code))]

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Bytes of a key.
pub(crate) const KEY_BYTES: usize = 32;
/// Bytes of the sixteen blocks.
pub(crate) const BLOCKS_BYTES: usize = 16 * 64;

/// One word of the state in each of the sixteen blocks.
type Lanes = [u32; 16];

/// The constant words of the state (RFC 8439 section 2.3): "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// Computes the first sixteen blocks of a key's keystream: nonce 0, counter from 0.
///
/// Compilers vectorize this code for processors with 256-bit registers, and generate slow code for others. Inline it
/// into a function compiled for such a processor. There it takes 0.6 times as long as [`keystream_elsewhere`].
#[inline(always)]
pub(crate) fn keystream(key: &[u8; KEY_BYTES], out: &mut [u8; BLOCKS_BYTES]) {
    let mut start = [[0; 16]; 16];
    for (word, constant) in start.iter_mut().zip(CONSTANTS) {
        *word = [constant; 16];
    }
    for (word, key) in start[4..12].iter_mut().zip(key.as_chunks().0) {
        *word = [u32::from_le_bytes(*key); 16];
    }
    start[12] = std::array::from_fn(|block| block as u32);

    let mut state = start;
    for _ in 0..4 {
        quarter_round(&mut state, 0, 4, 8, 12);
        quarter_round(&mut state, 1, 5, 9, 13);
        quarter_round(&mut state, 2, 6, 10, 14);
        quarter_round(&mut state, 3, 7, 11, 15);
        quarter_round(&mut state, 0, 5, 10, 15);
        quarter_round(&mut state, 1, 6, 11, 12);
        quarter_round(&mut state, 2, 7, 8, 13);
        quarter_round(&mut state, 3, 4, 9, 14);
    }
    for (word, start) in state.iter_mut().zip(start) {
        *word = add(*word, start);
    }
    for (block, out) in out.as_chunks_mut::<64>().0.iter_mut().enumerate() {
        for (word, out) in state.iter().zip(out.as_chunks_mut().0) {
            *out = word[block].to_le_bytes();
        }
    }
}

/// Computes the same bytes as [`keystream`] with a library that is also fast without 256-bit registers.
pub(crate) fn keystream_elsewhere(key: &[u8; KEY_BYTES], out: &mut [u8; BLOCKS_BYTES]) {
    ChaCha8Rng::from_seed(*key).fill_bytes(out);
}

/// RFC 8439 section 2.1.
#[inline(always)]
fn quarter_round(state: &mut [Lanes; 16], a: usize, b: usize, c: usize, d: usize) {
    state[a] = add(state[a], state[b]);
    state[d] = xor_rotated::<16>(state[d], state[a]);
    state[c] = add(state[c], state[d]);
    state[b] = xor_rotated::<12>(state[b], state[c]);
    state[a] = add(state[a], state[b]);
    state[d] = xor_rotated::<8>(state[d], state[a]);
    state[c] = add(state[c], state[d]);
    state[b] = xor_rotated::<7>(state[b], state[c]);
}

#[inline(always)]
fn add(a: Lanes, b: Lanes) -> Lanes {
    std::array::from_fn(|i| a[i].wrapping_add(b[i]))
}

#[inline(always)]
fn xor_rotated<const BITS: u32>(a: Lanes, b: Lanes) -> Lanes {
    std::array::from_fn(|i| (a[i] ^ b[i]).rotate_left(BITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_way_gives_the_bytes_of_the_library(key: [u8; KEY_BYTES]) {
            let [mut here, mut best, mut library] = [[0; BLOCKS_BYTES]; 3];
            keystream(&key, &mut here);
            crate::machine::chacha8(&key, &mut best);
            keystream_elsewhere(&key, &mut library);
            prop_assert_eq!(here, library);
            prop_assert_eq!(best, library);
        }
    }
}
