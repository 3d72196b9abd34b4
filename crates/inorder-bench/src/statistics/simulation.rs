//! Made-up measurements for tests of the statistics.

use inorder_key::bulk::SplitMix64;

/// Random numbers, the same in every run.
pub struct Noise(SplitMix64);

impl Noise {
    /// Creates a sequence that depends on the seed.
    pub fn new(seed: u64) -> Self {
        Noise(SplitMix64::new(
            seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x696e_6f72_6465_7221,
        ))
    }

    /// Above 0 and up to 1.
    fn uniform(&mut self) -> f64 {
        self.0.unit() + f64::EPSILON
    }

    /// Standard normal (Box and Muller, 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }
}
