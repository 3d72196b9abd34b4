//! Random bytes: ChaCha8 read through a buffer, its key replaced at every refill.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};

use crate::Error;

const KEY_BYTES: usize = 32;
const BLOCK_BYTES: usize = 1024;

/// A cryptographic random number generator that forgets what it gave.
///
/// Each refill takes 1024 bytes of ChaCha8 keystream: the first 32 become the next key, the rest is handed out and
/// wiped as it goes ("fast key erasure"). Who reads the memory later learns nothing about ids already made.
#[derive(Clone)]
pub(crate) struct Rng {
    block: [u8; BLOCK_BYTES],
    /// Where the bytes not yet given out begin.
    next: usize,
}

impl Rng {
    /// A reproducible generator: equal seeds give equal bytes.
    pub fn seeded(seed: u64) -> Self {
        let mut key = [0; KEY_BYTES];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self::from_key(key)
    }

    /// A generator keyed by the system.
    pub fn from_system() -> Result<Self, Error> {
        let mut key = [0; KEY_BYTES];
        getrandom::fill(&mut key)?;
        Ok(Self::from_key(key))
    }

    fn from_key(key: [u8; KEY_BYTES]) -> Self {
        let mut block = [0; BLOCK_BYTES];
        block[..KEY_BYTES].copy_from_slice(&key);
        Self {
            block,
            next: BLOCK_BYTES,
        }
    }

    #[cold]
    fn refill(&mut self) {
        let mut key = [0; KEY_BYTES];
        key.copy_from_slice(&self.block[..KEY_BYTES]);
        ChaCha8Rng::from_seed(key).fill_bytes(&mut self.block);
        self.next = KEY_BYTES;
    }

    /// The next `N` bytes, `N` at most 992. Bytes too few for it at the end of a block are dropped.
    #[inline]
    fn take<const N: usize>(&mut self) -> [u8; N] {
        if self.next > BLOCK_BYTES - N {
            self.refill();
        }
        let taken = &mut self.block[self.next..self.next + N];
        let mut out = [0; N];
        out.copy_from_slice(taken);
        taken.fill(0);
        self.next += N;
        out
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    /// The next 128 random bits.
    #[inline]
    pub fn next_u128(&mut self) -> u128 {
        u128::from_le_bytes(self.take())
    }

    /// Fills `out` with random bytes.
    pub fn fill(&mut self, mut out: &mut [u8]) {
        while !out.is_empty() {
            if self.next == BLOCK_BYTES {
                self.refill();
            }
            let taken = out.len().min(BLOCK_BYTES - self.next);
            let (head, rest) = out.split_at_mut(taken);
            let source = &mut self.block[self.next..self.next + taken];
            head.copy_from_slice(source);
            source.fill(0);
            self.next += taken;
            out = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_bytes_however_they_are_read() {
        let (mut a, mut b) = (Rng::seeded(7), Rng::seeded(7));
        let (mut whole, mut parts) = (vec![0; 5000], vec![0; 5000]);
        a.fill(&mut whole);
        for part in parts.chunks_mut(37) {
            b.fill(part);
        }
        assert_eq!(whole, parts);
        assert_ne!(a.next_u64(), Rng::seeded(8).next_u64());
    }

    #[test]
    fn given_bytes_are_wiped() {
        let mut rng = Rng::seeded(1);
        rng.next_u128();
        let given = &rng.block[KEY_BYTES..rng.next];
        assert!(given.len() == 16 && given.iter().all(|&byte| byte == 0));
    }
}
