//! Random choices that a seed determines.

use inorder_key::bulk::SplitMix64;

pub struct Dice(SplitMix64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(SplitMix64::new(SplitMix64::mix(seed)))
    }

    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// A number from 0 to `bound - 1`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound.max(1) as u64) as usize
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
        self.0.shuffle(&mut all);
        let most = most.min(bound);
        let least = least.min(most);
        all.truncate(least + self.below(most - least + 1));
        all
    }
}
