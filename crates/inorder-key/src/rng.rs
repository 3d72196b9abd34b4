//! Random bytes: ChaCha8 read through a buffer, its key replaced at every refill.

use std::cell::RefCell;

use crate::chacha::{BLOCKS_BYTES, KEY_BYTES};
use crate::{Error, machine};

/// The generation of a generator that has no key yet.
const UNKEYED: u64 = 0;
/// The generation of a reproducible generator, which forks do not concern.
const SEEDED: u64 = u64::MAX;

/// A cryptographic random number generator that forgets what it gave.
///
/// Each refill takes 1024 bytes of ChaCha8 keystream: the first 32 become the next key, the rest is handed out and
/// wiped as it goes ("fast key erasure"). Who reads the memory later learns nothing about ids already made.
#[derive(Clone)]
pub(crate) struct KeyRng {
    bytes: [u8; BLOCKS_BYTES],
    /// Where the bytes not yet given out begin.
    next: usize,
    /// The process that chose the key, as [`machine::generation`] counts.
    generation: u64,
}

impl KeyRng {
    /// A reproducible generator: equal seeds give equal bytes.
    pub fn seeded(seed: u64) -> Self {
        let mut rng = Self::unkeyed();
        rng.bytes[..8].copy_from_slice(&seed.to_le_bytes());
        rng.generation = SEEDED;
        rng
    }

    /// A generator keyed by the system.
    pub fn from_system() -> Result<Self, Error> {
        let mut rng = Self::unkeyed();
        rng.rekey_if_forked()?;
        Ok(rng)
    }

    /// A generator whose key [`KeyRng::rekey_if_forked`] is yet to choose.
    const fn unkeyed() -> Self {
        Self {
            bytes: [0; BLOCKS_BYTES],
            next: BLOCKS_BYTES,
            generation: UNKEYED,
        }
    }

    /// Takes a new key from the system if this process is not the one that chose the key.
    ///
    /// To be called before each use, or batch of uses, of randomness that must not repeat.
    #[inline]
    pub fn rekey_if_forked(&mut self) -> Result<(), Error> {
        if self.generation == machine::generation() || self.generation == SEEDED {
            return Ok(());
        }
        self.rekey()
    }

    #[cold]
    fn rekey(&mut self) -> Result<(), Error> {
        machine::watch_forks();
        getrandom::fill(&mut self.bytes[..KEY_BYTES])?;
        self.next = BLOCKS_BYTES;
        self.generation = machine::generation();
        Ok(())
    }

    /// Which process chose the key: a change tells of a fork.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    #[cold]
    fn refill(&mut self) {
        let mut key = [0; KEY_BYTES];
        key.copy_from_slice(&self.bytes[..KEY_BYTES]);
        machine::chacha8(&key, &mut self.bytes);
        self.next = KEY_BYTES;
    }

    /// The next `N` bytes, `N` at most 992. Bytes too few for it at the end of a block are dropped.
    #[inline]
    fn take<const N: usize>(&mut self) -> [u8; N] {
        if self.next > BLOCKS_BYTES - N {
            self.refill();
        }
        let taken = &mut self.bytes[self.next..self.next + N];
        let mut out = [0; N];
        out.copy_from_slice(taken);
        taken.fill(0);
        self.next += N;
        out
    }

    /// The next random bits, `bits` of them: 0 to 128, read from as few bytes as hold them.
    #[inline]
    pub fn bits(&mut self, bits: u32) -> u128 {
        match bits {
            0 => 0,
            1..=32 => (u32::from_le_bytes(self.take()) >> (32 - bits)).into(),
            33..=64 => (u64::from_le_bytes(self.take()) >> (64 - bits)).into(),
            _ => u128::from_le_bytes(self.take()) >> (128 - bits),
        }
    }

    /// Fills `out` with random bytes.
    pub fn fill(&mut self, mut out: &mut [u8]) {
        while !out.is_empty() {
            if self.next == BLOCKS_BYTES {
                self.refill();
            }
            let taken = out.len().min(BLOCKS_BYTES - self.next);
            let (head, rest) = out.split_at_mut(taken);
            let source = &mut self.bytes[self.next..self.next + taken];
            head.copy_from_slice(source);
            source.fill(0);
            self.next += taken;
            out = rest;
        }
    }
}

/// Lends the random number generator of this thread.
///
/// # Panics
/// If the system gives no random bytes on the first use in a thread or after a fork.
#[inline]
pub(crate) fn with<T>(f: impl FnOnce(&mut KeyRng) -> T) -> T {
    thread_local! {
        static RNG: RefCell<KeyRng> = const { RefCell::new(KeyRng::unkeyed()) };
    }
    RNG.with_borrow_mut(|rng| {
        if let Err(error) = rng.rekey_if_forked() {
            panic!("{error}");
        }
        f(rng)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_bytes_however_they_are_read() {
        let (mut a, mut b) = (KeyRng::seeded(7), KeyRng::seeded(7));
        let (mut whole, mut parts) = (vec![0; 5000], vec![0; 5000]);
        a.fill(&mut whole);
        for part in parts.chunks_mut(37) {
            b.fill(part);
        }
        assert_eq!(whole, parts);
        assert_ne!(a.bits(64), KeyRng::seeded(8).bits(64));
    }

    #[test]
    fn bits_stay_within_their_number() {
        let mut rng = KeyRng::seeded(3);
        for bits in 0..=128 {
            let seen = (0..100).fold(0, |seen, _| seen | rng.bits(bits));
            assert_eq!(128 - seen.leading_zeros(), bits);
        }
    }

    #[test]
    fn given_bytes_are_wiped() {
        let mut rng = KeyRng::seeded(1);
        rng.bits(128);
        let given = &rng.bytes[KEY_BYTES..rng.next];
        assert!(given.len() == 16 && given.iter().all(|&byte| byte == 0));
    }

    #[test]
    fn each_thread_has_a_key_of_its_own() {
        let here = with(|rng| rng.bits(128));
        let there = std::thread::spawn(|| with(|rng| rng.bits(128)));
        assert_ne!(here, there.join().unwrap());
    }
}
