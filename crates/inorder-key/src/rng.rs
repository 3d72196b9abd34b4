//! Random bytes: ChaCha8 through a buffer, with a new key per refill.

use std::cell::RefCell;

use crate::chacha::{BLOCKS_BYTES, KEY_BYTES};
use crate::{Error, machine};

/// Generation of a generator that has no key yet.
const UNKEYED: u64 = 0;
/// Generation of a reproducible generator, which ignores forks.
const SEEDED: u64 = u64::MAX;

/// A cryptographic random number generator that erases its output (fast key erasure).
///
/// Each refill computes 1024 bytes of ChaCha8 keystream. The first 32 bytes become the next key. The generator wipes
/// the other bytes as it returns them. The memory therefore reveals nothing about earlier ids.
#[derive(Clone)]
pub(crate) struct KeyRng {
    bytes: [u8; BLOCKS_BYTES],
    /// Position of the first unused byte.
    next: usize,
    /// Process that chose the key, as a [`machine::generation`].
    generation: u64,
}

impl KeyRng {
    /// Creates a reproducible generator: equal seeds give equal bytes.
    pub fn seeded(seed: u64) -> Self {
        let mut rng = Self::unkeyed();
        rng.bytes[..8].copy_from_slice(&seed.to_le_bytes());
        rng.generation = SEEDED;
        rng
    }

    /// Creates a generator with a key from the operating system.
    pub fn from_system() -> Result<Self, Error> {
        let mut rng = Self::unkeyed();
        rng.rekey_if_forked()?;
        Ok(rng)
    }

    /// Creates a generator without a key. [`KeyRng::rekey_if_forked`] chooses the key.
    const fn unkeyed() -> Self {
        Self {
            bytes: [0; BLOCKS_BYTES],
            next: BLOCKS_BYTES,
            generation: UNKEYED,
        }
    }

    /// Takes a new key from the operating system if another process chose the current one.
    ///
    /// Call it before each use, or batch of uses, of random bytes that must not repeat.
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

    /// Returns the process that chose the key. A different value shows that a fork happened.
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

    /// Returns the next `N` bytes, at most 992. Drops the rest of a block that has fewer bytes left.
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

    /// Returns the next `bits` random bits, 0 to 128, from as few bytes as possible.
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

/// Calls a function with the random number generator of this thread.
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
