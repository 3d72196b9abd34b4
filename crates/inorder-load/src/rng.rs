//! A small fast generator for made-up data: good enough for that, never for secrets.

/// wyrand: one 64-bit addition and one 128-bit multiplication a number.
///
/// Source: Wang Yi, wyhash final version 4, <https://github.com/wangyi-fudan/wyhash>.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// The generator of this seed. Neighbouring seeds give unrelated sequences.
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Rng(seed ^ 0x5851_f42d_4c95_7f2d);
        Rng(rng.next() ^ seed.rotate_left(32))
    }

    /// 64 random bits.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0xa076_1d64_78bd_642f);
        let product = u128::from(self.0) * u128::from(self.0 ^ 0xe703_7ed1_a0b4_28db);
        (product >> 64) as u64 ^ product as u64
    }

    /// A number from 0 to `bound - 1`, each equally likely; any 64-bit number where `bound` is 0.
    ///
    /// Source: D. Lemire, Fast Random Integer Generation in an Interval, 2019.
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return self.next();
        }
        let mut product = u128::from(self.next()) * u128::from(bound);
        if (product as u64) < bound {
            let excess = bound.wrapping_neg() % bound;
            while (product as u64) < excess {
                product = u128::from(self.next()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// A number from 0 up to, never reaching, 1.
    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let (mut a, mut b) = (Rng::new(7), Rng::new(7));
        assert!((0..100).all(|_| a.next() == b.next()));
        assert_ne!(Rng::new(7).next(), Rng::new(8).next());
    }

    #[test]
    fn below_reaches_every_number_about_equally_often() {
        let mut rng = Rng::new(1);
        let mut seen = [0u32; 10];
        for _ in 0..100_000 {
            seen[rng.below(10) as usize] += 1;
        }
        assert!(seen.iter().all(|n| (9_500..10_500).contains(n)), "{seen:?}");
    }

    #[test]
    fn unit_stays_within_its_bounds() {
        let mut rng = Rng::new(1);
        assert!((0..10_000).all(|_| (0.0..1.0).contains(&rng.unit())));
    }
}
