//! Random numbers from a seed.

use inorder_key::bulk::SplitMix64;

/// Draws for random schemas and plans.
pub(super) struct Dice(SplitMix64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
        Dice(SplitMix64::new(mixed))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0.bits()
    }

    /// A number below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub(super) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
