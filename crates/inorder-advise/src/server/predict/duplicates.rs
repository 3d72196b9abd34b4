//! Estimates how often the keys of a whole index repeat, from a sample of its entries.
//!
//! A key that occurs `k` times in the sample occurs an unknown number of times `m` in the index. Keys with more than
//! [`TIMES_MAX`] sampled entries are scaled. For the others, `m` is taken to follow a negative binomial distribution
//! over the keys, whose limit is the Poisson distribution (rows that choose their key independently). Thinned by the
//! sampled share, it stays a negative binomial distribution, so the expected number of keys seen `k` times is known
//! for each mean and shape. The estimate is the mean over a grid of both, weighted by their likelihood
//! (A. C. Cameron, P. K. Trivedi: Regression Analysis of Count Data, 2nd edition, 3.3; P. J. Haas, L. Stokes:
//! Estimating the Number of Classes in a Finite Population, 1998, for the problem).
//!
//! Where the number of distinct keys is known, means that contradict it have no weight.

/// Keys seen more often are scaled by the sampled share.
const TIMES_MAX: u64 = 24;
/// Shapes of the negative binomial distribution; infinity is Poisson.
const SHAPES: [f64; 7] = [0.25, 0.5, 1.0, 2.0, 4.0, 12.0, f64::INFINITY];
/// Means of the entries per key: the lowest, and the factor to the next.
const MEAN_MIN: f64 = 0.02;
const MEAN_STEP: f64 = 1.06;
/// Relative standard error of a known number of distinct keys.
const KNOWN_ERROR: f64 = 0.05;
/// Weights below this share of the largest are left out.
const WEIGHT_MIN: f64 = 1e-4;
/// Multiplicities are kept apart up to this one, and in steps of a twelfth above.
const APART_MAX: f64 = 24.0;

/// Keys of the sample that are alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Seen {
    /// Bytes of an entry.
    pub bytes: u32,
    /// How often each occurs in the sample.
    pub times: u64,
    /// How many keys.
    pub keys: u64,
}

/// Keys of the whole index that are alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Keys {
    /// Bytes of an entry.
    pub bytes: u32,
    /// Entries per key.
    pub times: f64,
    /// How many keys.
    pub keys: f64,
}

/// Estimates the keys of an index of `entries` entries.
pub(super) fn population(seen: &[Seen], entries: f64, distinct: Option<f64>) -> Vec<Keys> {
    let sampled: u64 = seen.iter().map(|some| some.times * some.keys).sum();
    if sampled == 0 {
        return Vec::new();
    }
    let share = sampled as f64 / entries;
    let scaled = |some: &Seen| Keys {
        bytes: some.bytes,
        times: (some.times as f64 / share).max(1.0),
        keys: some.keys as f64,
    };
    if share >= 0.999 {
        return seen.iter().map(scaled).collect();
    }
    let (rare, frequent): (Vec<Seen>, Vec<Seen>) =
        seen.iter().partition(|some| some.times <= TIMES_MAX);
    let mut all: Vec<Keys> = frequent.iter().map(scaled).collect();
    let rare_entries = rare.iter().map(|some| some.times * some.keys).sum::<u64>() as f64 / share;
    if rare.is_empty() {
        return all;
    }
    let frequent_keys: f64 = all.iter().map(|keys| keys.keys).sum();
    let rare_distinct = distinct.map(|keys| (keys - frequent_keys).max(1.0));
    let times = multiplicities(&counts(&rare), rare_entries, share, rare_distinct);
    // Sizes are taken to be independent of how often a rare key occurs.
    let rare_keys: f64 = rare.iter().map(|some| some.keys as f64).sum();
    for some in &rare {
        let part = some.keys as f64 / rare_keys;
        all.extend(times.iter().map(|&(times, keys)| Keys {
            bytes: some.bytes,
            times,
            keys: keys * part,
        }));
    }
    merged(all)
}

/// Joins those of one size and multiplicity.
fn merged(mut all: Vec<Keys>) -> Vec<Keys> {
    all.sort_by(|a, b| a.bytes.cmp(&b.bytes).then(a.times.total_cmp(&b.times)));
    all.dedup_by(|next, kept| {
        let is_same = next.bytes == kept.bytes && next.times == kept.times;
        if is_same {
            kept.keys += next.keys;
        }
        is_same
    });
    all
}

/// How many keys were seen once, twice, …
fn counts(rare: &[Seen]) -> Vec<f64> {
    let mut counts = vec![0.0; TIMES_MAX as usize];
    for some in rare {
        counts[some.times as usize - 1] += some.keys as f64;
    }
    counts
}

/// Entries per key and how many keys have so many, of the rare keys.
fn multiplicities(
    counts: &[f64],
    entries: f64,
    share: f64,
    distinct: Option<f64>,
) -> Vec<(f64, f64)> {
    let mean_max = 2.0 * TIMES_MAX as f64 / share;
    let mut models: Vec<(f64, f64, f64)> = Vec::new();
    for shape in SHAPES {
        let mut mean = MEAN_MIN;
        while mean < mean_max {
            let thinned = distribution(mean * share, shape, counts.len());
            let keys = entries / mean;
            let mut fit: f64 = counts
                .iter()
                .zip(&thinned[1..])
                .map(|(count, of)| {
                    let expected = (keys * of).max(1e-12);
                    count * expected.ln() - expected
                })
                .sum();
            if let Some(distinct) = distinct {
                let present = keys * (1.0 - distribution(mean, shape, 0)[0]);
                let off = (present / distinct).ln() / KNOWN_ERROR;
                fit -= off * off / 2.0;
            }
            models.push((fit, mean, shape));
            mean *= MEAN_STEP;
        }
    }
    let best = models.iter().map(|model| model.0).fold(f64::MIN, f64::max);
    models.retain(|(fit, ..)| (fit - best).exp() > WEIGHT_MIN);
    let total: f64 = models.iter().map(|(fit, ..)| (fit - best).exp()).sum();
    let mut all = Vec::new();
    for (fit, mean, shape) in models {
        let weight = (fit - best).exp() / total;
        let spread = match shape.is_finite() {
            true => (mean + mean * mean / shape).sqrt(),
            false => mean.sqrt(),
        };
        let most = (mean + 12.0 * spread).ceil() as usize + 4;
        let of = distribution(mean, shape, most);
        let binned = binned(&of, entries / mean * weight);
        all.extend(binned);
    }
    all.sort_by(|a: &(f64, f64), b| a.0.total_cmp(&b.0));
    all.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        if is_same {
            kept.1 += next.1;
        }
        is_same
    });
    let found: f64 = all.iter().map(|(times, keys)| times * keys).sum();
    all.iter_mut()
        .for_each(|(_, keys)| *keys *= entries / found);
    all
}

/// Groups large multiplicities.
fn binned(of: &[f64], keys: f64) -> Vec<(f64, f64)> {
    let mut all = Vec::new();
    let mut from = 1.0;
    while from < of.len() as f64 {
        let to = match from < APART_MAX {
            true => from + 1.0,
            false => (from * 13.0 / 12.0).ceil().max(from + 1.0),
        };
        let end = (to as usize).min(of.len());
        let part: f64 = of[from as usize..end].iter().sum();
        let middle = ((from + to - 1.0) / 2.0).round();
        if part > 0.0 {
            all.push((middle, keys * part));
        }
        from = to;
    }
    all
}

/// Probabilities of 0 to `most` for a negative binomial distribution.
fn distribution(mean: f64, shape: f64, most: usize) -> Vec<f64> {
    let is_poisson = !shape.is_finite();
    let first_ln = match is_poisson {
        true => -mean,
        false => -shape * (1.0 + mean / shape).ln(),
    };
    let mut all = Vec::with_capacity(most + 1);
    let mut ln = first_ln;
    all.push(ln.exp());
    for k in 0..most {
        let k = k as f64;
        ln += match is_poisson {
            true => (mean / (k + 1.0)).ln(),
            false => ((k + shape) / (k + 1.0) * mean / (mean + shape)).ln(),
        };
        all.push(ln.exp());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_key::SplitMix64;

    fn distinct(keys: &[Keys]) -> f64 {
        keys.iter().map(|keys| keys.keys).sum()
    }

    fn seen(values: impl Iterator<Item = u64>) -> Vec<Seen> {
        let mut of = std::collections::HashMap::<u64, u64>::new();
        values.for_each(|value| *of.entry(value).or_default() += 1);
        let mut times = std::collections::BTreeMap::<u64, u64>::new();
        of.values()
            .for_each(|&count| *times.entry(count).or_default() += 1);
        let some = |(times, keys)| Seen {
            bytes: 16,
            times,
            keys,
        };
        times.into_iter().map(some).collect()
    }

    #[test]
    fn independent_choices_are_counted() {
        let mut random = SplitMix64::new(7);
        for of in [50, 1_000, 40_000, 200_000] {
            let sample = seen((0..10_000).map(|_| random.below(of)));
            let found = population(&sample, 500_000.0, None);
            let entries: f64 = found.iter().map(|keys| keys.keys * keys.times).sum();
            assert!((entries / 500_000.0 - 1.0).abs() < 0.001, "{entries}");
            let expected = of as f64 * (1.0 - (-500_000.0 / of as f64).exp());
            let off = distinct(&found) / expected - 1.0;
            assert!(off.abs() < 0.15, "{of}: {off}");
            let known = population(&sample, 500_000.0, Some(expected));
            let off = distinct(&known) / expected - 1.0;
            assert!(off.abs() < 0.05, "{of}, known: {off}");
        }
    }

    #[test]
    fn keys_that_never_repeat_are_all_there() {
        let found = population(&seen(0..10_000), 300_000.0, None);
        assert!(
            (distinct(&found) / 300_000.0 - 1.0).abs() < 0.03,
            "{found:?}"
        );
        let whole = population(&seen((0..10_000).map(|at| at / 4)), 10_000.0, None);
        assert_eq!(distinct(&whole), 2_500.0);
    }
}
