//! Ratios of medians and their bootstrap intervals.
//!
//! Trials are few and their times skewed, so no distribution is assumed: the percentile bootstrap
//! (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13) resamples what was
//! measured. The random numbers come from a constant seed, so a report made twice is the same twice.

use super::median;
use serde::Serialize;

/// Resamples behind every interval.
pub const RESAMPLES: usize = 2_000;

/// Share of the resamples that lies inside the interval.
pub const CONFIDENCE: f64 = 0.95;

/// Any constant does: it only has to be the same in every report.
const SEED: u64 = 0x696e_6f72_6465_7221;

/// A ratio between two cells.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// Median of A over median of B.
    pub ratio: f64,
    /// Lower end of the 95% bootstrap interval.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
    /// Pairs it rests on.
    pub pairs: usize,
}

impl Ratio {
    /// Whether the whole interval lies on one side of 1.
    pub fn differs(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }

    fn exact(ratio: f64, pairs: usize) -> Self {
        Ratio {
            ratio,
            low: ratio,
            high: ratio,
            pairs,
        }
    }
}

/// Median of the first over median of the second of each pair, resampled pair by pair.
///
/// Pairs with a value that is not finite are left out. One pair has no interval: its ends are the
/// ratio itself. `None` without pairs or where the second median is 0.
pub fn ratio_of(pairs: &[(f64, f64)]) -> Option<Ratio> {
    let pairs: Vec<(f64, f64)> = pairs
        .iter()
        .copied()
        .filter(|(a, b)| a.is_finite() && b.is_finite())
        .collect();
    let of = |pairs: &[(f64, f64)]| {
        quotient(
            pairs.iter().map(|pair| pair.0),
            pairs.iter().map(|pair| pair.1),
        )
    };
    let ratio = of(&pairs)?;
    if pairs.iter().all(|pair| *pair == pairs[0]) {
        return Some(Ratio::exact(ratio, pairs.len()));
    }
    let mut drawn = pairs.clone();
    let (low, high) = interval(ratio, |random| {
        draw(random, &pairs, &mut drawn);
        of(&drawn)
    });
    Some(Ratio {
        ratio,
        low,
        high,
        pairs: pairs.len(),
    })
}

/// The same for two samples without pairs, such as the trials of two runs: each is resampled by
/// itself. `pairs` is the size of the smaller one.
pub fn ratio_unpaired(a: &[f64], b: &[f64]) -> Option<Ratio> {
    let finite =
        |values: &[f64]| -> Vec<f64> { values.iter().copied().filter(|v| v.is_finite()).collect() };
    let (a, b) = (finite(a), finite(b));
    let of = |a: &[f64], b: &[f64]| quotient(a.iter().copied(), b.iter().copied());
    let ratio = of(&a, &b)?;
    let (mut drawn_a, mut drawn_b) = (a.clone(), b.clone());
    let (low, high) = interval(ratio, |random| {
        draw(random, &a, &mut drawn_a);
        draw(random, &b, &mut drawn_b);
        of(&drawn_a, &drawn_b)
    });
    Some(Ratio {
        ratio,
        low,
        high,
        pairs: a.len().min(b.len()),
    })
}

/// Median over median, where that is a number.
fn quotient(a: impl Iterator<Item = f64>, b: impl Iterator<Item = f64>) -> Option<f64> {
    let (a, b) = (median(a)?, median(b)?);
    (b != 0.0).then(|| a / b)
}

/// Fills `drawn` with members of `from`, with replacement.
fn draw<T: Copy>(random: &mut SplitMix64, from: &[T], drawn: &mut [T]) {
    for slot in drawn {
        *slot = from[random.below(from.len())];
    }
}

/// The percentile interval of a statistic over its resamples.
fn interval(
    statistic: f64,
    mut resample: impl FnMut(&mut SplitMix64) -> Option<f64>,
) -> (f64, f64) {
    let mut random = SplitMix64(SEED);
    let mut seen: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| resample(&mut random))
        .collect();
    seen.sort_by(f64::total_cmp);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let at = |share: f64| {
        let last = seen.len().saturating_sub(1);
        seen.get((share * last as f64).round() as usize)
            .copied()
            .unwrap_or(statistic)
    };
    (at(tail), at(1.0 - tail))
}

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, by the high half of a product: no modulo, no bias that could be seen.
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_pairs_have_a_degenerate_interval() {
        let ratio = ratio_of(&[(3.0, 6.0); 5]).unwrap();
        assert_eq!(ratio, Ratio::exact(0.5, 5));
    }

    #[test]
    fn one_pair_has_no_interval() {
        assert_eq!(ratio_of(&[(1.0, 4.0)]), Some(Ratio::exact(0.25, 1)));
    }

    #[test]
    fn nothing_to_divide_is_none() {
        assert_eq!(ratio_of(&[]), None);
        assert_eq!(ratio_of(&[(1.0, 0.0), (2.0, 0.0)]), None);
        assert_eq!(ratio_of(&[(f64::NAN, 1.0)]), None);
        assert_eq!(ratio_unpaired(&[], &[1.0]), None);
    }

    #[test]
    fn the_interval_of_two_pairs_spans_both() {
        // Resamples are (1,1), (1,2), (2,2) in the first member: 1, 1.5 and 2.
        let ratio = ratio_of(&[(1.0, 1.0), (2.0, 1.0)]).unwrap();
        assert_eq!((ratio.ratio, ratio.low, ratio.high), (1.5, 1.0, 2.0));
    }

    #[test]
    fn pairing_removes_what_a_repetition_has_in_common() {
        let pairs: Vec<(f64, f64)> = (1..=9)
            .map(|n| (f64::from(n) * 2.0, f64::from(n)))
            .collect();
        let paired = ratio_of(&pairs).unwrap();
        assert_eq!((paired.ratio, paired.low, paired.high), (2.0, 2.0, 2.0));
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let unpaired = ratio_unpaired(&a, &b).unwrap();
        assert_eq!(unpaired.ratio, 2.0);
        assert!(unpaired.low < 1.5 && unpaired.high > 2.5, "{unpaired:?}");
    }

    #[test]
    fn a_known_spread_gives_a_known_interval() {
        // The median of 0..=100 has a standard error near 1.2533 * 29.15 / sqrt(101) = 3.6, so 95%
        // lies within about 50 plus or minus 7 (here over a second median of 50).
        let pairs: Vec<(f64, f64)> = (0..=100).map(|n| (f64::from(n), 50.0)).collect();
        let ratio = ratio_of(&pairs).unwrap();
        assert_eq!(ratio.ratio, 1.0);
        assert!((0.74..0.90).contains(&ratio.low), "{ratio:?}");
        assert!((1.10..1.26).contains(&ratio.high), "{ratio:?}");
    }

    #[test]
    fn the_same_pairs_give_the_same_interval() {
        let pairs = [(1.0, 2.0), (1.5, 2.1), (0.9, 1.9), (1.2, 2.2)];
        assert_eq!(ratio_of(&pairs), ratio_of(&pairs));
    }

    #[test]
    fn differs_needs_the_whole_interval_on_one_side() {
        let ratio = |low, high| Ratio {
            ratio: 1.0,
            low,
            high,
            pairs: 3,
        };
        assert!(ratio(1.01, 1.2).differs());
        assert!(ratio(0.8, 0.99).differs());
        assert!(!ratio(0.99, 1.01).differs());
    }
}
