//! Random choices that a seed determines.

/// SplitMix64. Source: <https://prng.di.unimi.it/splitmix64.c>.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `bound - 1`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound.max(1) as u64) as usize
    }

    /// True once in `of` times.
    pub fn once_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// Between `least` and `most` of the numbers below `bound`, each once, in any order.
    pub fn some(&mut self, bound: usize, least: usize, most: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..bound).collect();
        for at in (1..bound).rev() {
            all.swap(at, self.below(at + 1));
        }
        let most = most.min(bound);
        let least = least.min(most);
        all.truncate(least + self.below(most - least + 1));
        all
    }
}
