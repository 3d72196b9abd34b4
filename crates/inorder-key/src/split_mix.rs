//! A small fast generator of reproducible numbers: for test data, never for ids or secrets.

/// SplitMix64: one addition and two multiplications per number.
///
/// Equal seeds give equal numbers on every machine. The numbers are predictable; ids come from
/// [`Generator`](crate::Generator).
///
/// Source: G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators", 2014;
/// <https://prng.di.unimi.it/splitmix64.c>.
///
/// ```
/// let mut random = inorder_key::bulk::SplitMix64::new(0);
/// assert_eq!(random.bits(), 0xe220_a839_7b1d_cdaf);
/// ```
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Starts the sequence of a seed.
    pub const fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// Mixes the bits of a number: a bijection in which every input bit changes about half of the output bits.
    #[inline]
    pub const fn mix(number: u64) -> u64 {
        let z = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns the next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        Self::mix(self.0)
    }

    /// Returns a uniform number from 0 to `bound - 1`, or any 64-bit number if `bound` is 0.
    ///
    /// Source: D. Lemire, "Fast random integer generation in an interval", 2019.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return self.bits();
        }
        let mut product = u128::from(self.bits()) * u128::from(bound);
        if (product as u64) < bound {
            let excess = bound.wrapping_neg() % bound;
            while (product as u64) < excess {
                product = u128::from(self.bits()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// Returns a uniform number from 0 (included) to 1 (excluded), a multiple of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Shuffles the items (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1);
            items.swap(last, other as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_reference_implementation() {
        let mut random = SplitMix64::new(1_234_567);
        let numbers: Vec<u64> = (0..5).map(|_| random.bits()).collect();
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(numbers, expected);
    }

    #[test]
    fn below_gives_every_number_about_equally_often() {
        let mut random = SplitMix64::new(1);
        let mut seen = [0u32; 10];
        for _ in 0..100_000 {
            seen[random.below(10) as usize] += 1;
        }
        assert!(seen.iter().all(|n| (9_500..10_500).contains(n)), "{seen:?}");
    }

    #[test]
    fn unit_stays_within_its_bounds() {
        let mut random = SplitMix64::new(1);
        assert!((0..10_000).all(|_| (0.0..1.0).contains(&random.unit())));
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..100).collect();
        SplitMix64::new(1).shuffle(&mut items);
        assert!(!items.is_sorted());
        items.sort_unstable();
        assert!(items.into_iter().eq(0..100));
    }
}
