//! Estimates how often the keys of a whole index repeat, from a sample of its entries.
//!
//! A key that occurs `k` times in the sample occurs an unknown number of times `m` in the index. Keys with more than
//! [`TIMES_MAX`] sampled entries are scaled. For the others, `m` is taken to follow a negative binomial distribution
//! over the keys, whose limit is the Poisson distribution (rows that choose their key independently). Thinned by the
//! sampled share, it stays a negative binomial distribution, so the expected number of keys seen `k` times is known
//! for each mean and shape. A first estimate is the mean over a grid of both, weighted by their likelihood
//! (A. C. Cameron, P. K. Trivedi: Regression Analysis of Count Data, 2nd edition, 3.3; P. J. Haas, L. Stokes:
//! Estimating the Number of Classes in a Finite Population, 1998, for the problem).
//!
//! A negative binomial distribution is a mixture of Poisson distributions. Some steps of expectation and maximization
//! change the mixture's weights where the sample contradicts the first estimate, such as with few keys of many rows beside
//! many keys of few rows.
//!
//! Two distributions that a sample of 1% can't tell apart may differ by a third in the size of an index with posting
//! lists. So some rows are looked up where that is possible ([`super::rows_per_key`]): a row whose key has `m` rows stands
//! for `1/m` keys, which needs no further assumption.

/// Rows of one key are looked up to this number. Lists of rows are full before.
pub(super) const LOOKED_UP_MAX: u64 = 150;
/// Rows of keys with more, around their middle: lists of one length only would fill pages in one way only.
const MANY: [f64; 5] = [0.6, 0.8, 1.0, 1.25, 1.7];
/// Keys seen more often are scaled by the sampled share.
const TIMES_MAX: u64 = 24;
/// Shapes of the negative binomial distribution; infinity is Poisson.
const SHAPES: [f64; 7] = [0.25, 0.5, 1.0, 2.0, 4.0, 12.0, f64::INFINITY];
/// Means of the entries per key: the lowest, and the factor to the next.
const MEAN_MIN: f64 = 0.02;
const MEAN_STEP: f64 = 1.06;
/// The lowest mean of a mixture.
const MIXED_MIN: f64 = 0.002;
/// Steps towards the most likely mixture.
const STEPS: usize = 60;
/// Parts of a mixture below this share of the largest are left out.
const NEGLIGIBLE: f64 = 1e-9;
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
    /// Whether a value of the key is NULL.
    pub has_null: bool,
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

/// Estimates the keys of an index of `entries` entries. `looked_up` has the number of rows with the same key, for rows
/// chosen at random among those without a NULL in the key, and may be empty.
pub(super) fn population(seen: &[Seen], entries: f64, looked_up: &[u64]) -> Vec<Keys> {
    let sampled: u64 = entries_of(seen);
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
    let (frequent, rare): (Vec<Seen>, Vec<Seen>) =
        seen.iter().partition(|some| some.times > TIMES_MAX);
    let (estimated, known): (Vec<Seen>, Vec<Seen>) = rare
        .iter()
        .partition(|some| looked_up.is_empty() || some.has_null);
    let mut all: Vec<Keys> = frequent.iter().map(scaled).collect();
    if !estimated.is_empty() {
        let entries = entries_of(&estimated) as f64 / share;
        let times = multiplicities(&counts(&estimated), entries, share);
        spread(&estimated, &times, &mut all);
    }
    if !known.is_empty() {
        let without_null: Vec<Seen> = seen.iter().filter(|some| !some.has_null).copied().collect();
        let parts = entries_of(&known) as f64 / entries_of(&without_null) as f64;
        let entries = entries_of(&known) as f64 / share;
        spread(
            &known,
            &of_looked_up(looked_up, entries, parts, share),
            &mut all,
        );
    }
    merged(all)
}

/// Entries per key and how many keys have so many, for rare keys with `entries` entries. They are `part` of those that
/// rows were chosen from.
fn of_looked_up(looked_up: &[u64], entries: f64, part: f64, share: f64) -> Vec<(f64, f64)> {
    // Keys with more rows were seen often in the sample.
    let rare_max = TIMES_MAX as f64 / share;
    let counted: Vec<f64> = looked_up
        .iter()
        .filter(|&&rows| rows < LOOKED_UP_MAX && rows as f64 <= rare_max)
        .map(|&rows| rows.max(1) as f64)
        .collect();
    let counted_part = counted.len() as f64 / looked_up.len() as f64;
    // With more rows than are counted, lists are full and the number matters little.
    let rest = match rare_max > LOOKED_UP_MAX as f64 {
        true => (part - counted_part).max(0.0) / part,
        false => 0.0,
    };
    if counted.is_empty() && rest == 0.0 {
        return vec![(rare_max.max(1.0), entries / rare_max.max(1.0))];
    }
    let mut all: Vec<(f64, f64)> = counted
        .iter()
        .map(|rows| (*rows, entries * (1.0 - rest) / counted.len() as f64 / rows))
        .collect();
    let middle = (LOOKED_UP_MAX as f64 * rare_max).sqrt();
    for factor in MANY {
        let rows = (middle * factor).round();
        if rest > 0.0 {
            all.push((rows, entries * rest / MANY.len() as f64 / rows));
        }
    }
    all
}

fn entries_of(seen: &[Seen]) -> u64 {
    seen.iter().map(|some| some.times * some.keys).sum()
}

/// Gives keys of each size their part of the multiplicities. Sizes are taken to be independent of how often keys occur.
fn spread(seen: &[Seen], times: &[(f64, f64)], all: &mut Vec<Keys>) {
    let keys: f64 = seen.iter().map(|some| some.keys as f64).sum();
    for some in seen {
        let part = some.keys as f64 / keys;
        all.extend(times.iter().map(|&(times, keys)| Keys {
            bytes: some.bytes,
            times,
            keys: keys * part,
        }));
    }
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
fn multiplicities(counts: &[f64], entries: f64, share: f64) -> Vec<(f64, f64)> {
    let mean_max = 2.0 * TIMES_MAX as f64 / share;
    let mut models: Vec<(f64, f64, f64)> = Vec::new();
    for shape in SHAPES {
        let mut mean = MEAN_MIN;
        while mean < mean_max {
            let thinned = distribution(mean * share, shape, counts.len());
            let keys = entries / mean;
            let fit: f64 = counts
                .iter()
                .zip(&thinned[1..])
                .map(|(count, of)| {
                    let expected = (keys * of).max(1e-12);
                    count * expected.ln() - expected
                })
                .sum();
            models.push((fit, mean, shape));
            mean *= MEAN_STEP;
        }
    }
    let best = models.iter().map(|model| model.0).fold(f64::MIN, f64::max);
    models.retain(|(fit, ..)| (fit - best).exp() > WEIGHT_MIN);
    let total: f64 = models.iter().map(|(fit, ..)| (fit - best).exp()).sum();
    let mut mixture = Mixture::new(mean_max);
    for (fit, mean, shape) in models {
        let weight = (fit - best).exp() / total;
        mixture.add(mean, shape, entries / mean * weight);
    }
    mixture.refine(counts, share);
    mixture.times(entries)
}

/// Keys by their mean number of entries; the numbers of one mean are Poisson-distributed.
struct Mixture {
    means: Vec<f64>,
    keys: Vec<f64>,
}

impl Mixture {
    fn new(mean_max: f64) -> Self {
        let mut means = vec![MIXED_MIN];
        while means[means.len() - 1] < mean_max {
            means.push(means[means.len() - 1] * MEAN_STEP);
        }
        Mixture {
            keys: vec![0.0; means.len()],
            means,
        }
    }

    /// Adds keys whose numbers follow a negative binomial distribution: a mixture by the gamma distribution.
    fn add(&mut self, mean: f64, shape: f64, keys: f64) {
        if !shape.is_finite() {
            let at = self.means.partition_point(|other| *other < mean);
            self.keys[at.min(self.means.len() - 1)] += keys;
            return;
        }
        let density = |other: &f64| (shape * (other / mean).ln() - shape * other / mean).exp();
        let densities: Vec<f64> = self.means.iter().map(density).collect();
        let all: f64 = densities.iter().sum();
        for (own, density) in self.keys.iter_mut().zip(densities) {
            *own += keys * density / all;
        }
    }

    /// Moves towards the maximum of the likelihood, by a few steps of expectation and maximization: more would follow
    /// the noise of the sample.
    fn refine(&mut self, counts: &[f64], share: f64) {
        let seen: Vec<Vec<f64>> = self
            .means
            .iter()
            .map(|mean| distribution(mean * share, f64::INFINITY, counts.len()))
            .collect();
        for _ in 0..STEPS {
            let mut expected = vec![0.0; counts.len()];
            for (keys, of) in self.keys.iter().zip(&seen) {
                for (sum, part) in expected.iter_mut().zip(&of[1..]) {
                    *sum += keys * part;
                }
            }
            for (keys, of) in self.keys.iter_mut().zip(&seen) {
                let all: f64 = of[1..].iter().sum();
                let found: f64 = of[1..]
                    .iter()
                    .zip(counts.iter().zip(&expected))
                    .map(|(part, (count, expected))| part * count / expected.max(1e-12))
                    .sum();
                if all > 0.0 {
                    *keys *= found / all;
                }
            }
        }
        // The rest of these was seen more often, and is among the frequent keys.
        for (keys, of) in self.keys.iter_mut().zip(&seen) {
            *keys *= of.iter().sum::<f64>().min(1.0);
        }
    }

    /// Entries per key, and the number of keys with so many.
    fn times(&self, entries: f64) -> Vec<(f64, f64)> {
        let most: f64 = self.keys.iter().copied().fold(0.0, f64::max);
        let mut all = Vec::new();
        for (mean, keys) in self.means.iter().zip(&self.keys) {
            if *keys > most * NEGLIGIBLE {
                let end = (mean + 12.0 * mean.sqrt()).ceil() as usize + 4;
                all.extend(binned(&distribution(*mean, f64::INFINITY, end), *keys));
            }
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
    use inorder_key::bulk::SplitMix64;
    use std::collections::BTreeMap;

    /// Bytes of posting lists: 20 per list of 130 rows, and 6 per row.
    fn cost(keys: &[Keys]) -> f64 {
        let of = |one: &Keys| ((one.times / 130.0).ceil() * 20.0 + 6.0 * one.times) * one.keys;
        keys.iter().map(of).sum()
    }

    fn seen(values: impl Iterator<Item = u64>) -> Vec<Seen> {
        let mut of = BTreeMap::<u64, u64>::new();
        values.for_each(|value| *of.entry(value).or_default() += 1);
        let mut times = BTreeMap::<u64, u64>::new();
        of.values()
            .for_each(|&count| *times.entry(count).or_default() += 1);
        let some = |(times, keys)| Seen {
            bytes: 16,
            times,
            keys,
            has_null: false,
        };
        times.into_iter().map(some).collect()
    }

    /// Relative errors of the cost from a sample of 10,000 rows alone, and with 1,500 rows looked up.
    fn errors(keys: &[u64], seed: u64) -> (f64, f64) {
        let mut random = SplitMix64::new(seed);
        let mut rows = BTreeMap::<u64, u64>::new();
        keys.iter()
            .for_each(|&key| *rows.entry(key).or_default() += 1);
        let real: Vec<Keys> = rows
            .values()
            .map(|&times| Keys {
                bytes: 16,
                times: times as f64,
                keys: 1.0,
            })
            .collect();
        let of = keys.len() as u64;
        let sample: Vec<u64> = keys
            .iter()
            .copied()
            .filter(|_| random.below(of) < 10_000)
            .collect();
        let looked_up: Vec<u64> = (0..1_500)
            .map(|_| rows[&keys[random.below(of) as usize]].min(LOOKED_UP_MAX))
            .collect();
        let sample = seen(sample.into_iter());
        let off = |looked_up: &[u64]| {
            cost(&population(&sample, of as f64, looked_up)) / cost(&real) - 1.0
        };
        (off(&[]), off(&looked_up))
    }

    #[test]
    fn costs_of_lists_are_found() {
        type Pick = fn(&mut SplitMix64, u64, u64) -> u64;
        // Distributions of 200,000 rows, and the largest error without rows that were looked up.
        let picks: [(&str, Pick, f64); 7] = [
            (
                "2 rows per key",
                |random, _, rows| random.below(rows / 2),
                0.08,
            ),
            (
                "12 rows per key",
                |random, _, rows| random.below(rows / 12),
                0.05,
            ),
            ("exactly 10 rows per key", |_, row, _| row / 10, 0.05),
            ("never twice", |_, row, _| row, 0.03),
            (
                "half of the rows alone",
                |random, row, rows| match row % 2 {
                    0 => row,
                    _ => rows + random.below(rows / 30),
                },
                0.35,
            ),
            (
                "skewed",
                |random, _, rows| (rows as f64 / 5.0 * random.unit().powi(4)) as u64,
                0.05,
            ),
            (
                "zipf",
                |random, _, rows| (rows as f64 / 2.0).powf(random.unit()) as u64,
                0.15,
            ),
        ];
        for (name, pick, most) in picks {
            let mut random = SplitMix64::new(11);
            let keys: Vec<u64> = (0..200_000)
                .map(|row| pick(&mut random, row, 200_000))
                .collect();
            let (alone, with) = errors(&keys, 3);
            println!(
                "{name}: {:+.1}%, looked up {:+.1}%",
                alone * 100.0,
                with * 100.0
            );
            assert!(alone.abs() < most, "{name}: {alone}");
            assert!(with.abs() < 0.045, "{name}, looked up: {with}");
        }
    }

    #[test]
    fn keys_of_a_whole_table_are_its_own() {
        let whole = population(&seen((0..10_000).map(|at| at / 4)), 10_000.0, &[]);
        let keys: f64 = whole.iter().map(|keys| keys.keys).sum();
        assert_eq!(keys, 2_500.0);
        assert!(population(&[], 100.0, &[]).is_empty());
    }
}
