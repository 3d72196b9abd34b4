//! Times of two databases, taken in turns: the median of each, and of the ratio with its 95% interval.

use serde::Serialize;
use std::time::{Duration, Instant};

/// Pairs that are measured; fewer where the time ends.
const PAIRS: usize = 25;
/// With fewer pairs the median has no 95% interval.
const PAIRS_MIN: usize = 6;
/// Those few may take this many times the limit: on a loaded machine, too, there are some.
const LONGER_MAX: u32 = 10;
/// Both probabilities of the median lying outside of its interval, together.
const OUTSIDE: f64 = 0.05;

/// Times before and after, in nanoseconds per run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pairs {
    /// The median before.
    pub before_ns: f64,
    /// The median after.
    pub after_ns: f64,
    /// The median of after divided by before, pair by pair.
    pub ratio: f64,
    /// The 95% interval of that median, by order statistics.
    pub ratio_interval: [f64; 2],
    /// Pairs of blocks that were measured.
    pub pairs: usize,
}

/// Measures blocks of runs in turns until there are enough or `limit` has passed; longer where they are very few. `run`
/// runs the block of a number on one side (0 before, 1 after) and returns how many runs it had. `None` where too few blocks
/// fit into the time, or `run` has no result.
pub(super) fn measure(
    limit: Duration,
    mut run: impl FnMut(usize, usize) -> Option<usize>,
) -> Option<Pairs> {
    let began = Instant::now();
    let mut pairs = Vec::new();
    for block in 0..PAIRS {
        let times = if block < PAIRS_MIN { LONGER_MAX } else { 1 };
        if began.elapsed() > limit.saturating_mul(times) {
            break;
        }
        let mut ns = [0.0; 2];
        // Each side is the first one in every other pair.
        for turn in 0..2 {
            let side = (block + turn) % 2;
            let start = Instant::now();
            let runs = run(side, block)?;
            ns[side] = start.elapsed().as_nanos() as f64 / runs.max(1) as f64;
        }
        pairs.push(ns);
    }
    of(&pairs)
}

/// The medians of pairs of times, before and after. `None` where they are too few.
fn of(pairs: &[[f64; 2]]) -> Option<Pairs> {
    if pairs.len() < PAIRS_MIN {
        return None;
    }
    let mut before: Vec<f64> = pairs.iter().map(|[before, _]| *before).collect();
    let mut after: Vec<f64> = pairs.iter().map(|[_, after]| *after).collect();
    let ratio = |[before, after]: &[f64; 2]| after / before.max(1.0);
    let mut ratios: Vec<f64> = pairs.iter().map(ratio).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let rank = rank(ratios.len());
    Some(Pairs {
        before_ns: median(&mut before),
        after_ns: median(&mut after),
        ratio_interval: [ratios[rank], ratios[ratios.len() - 1 - rank]],
        pairs: ratios.len(),
        ratio: median(&mut ratios),
    })
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        0 => (values[middle - 1] + values[middle]) / 2.0,
        _ => values[middle],
    }
}

/// The place from either end, from 0, of the bounds of the median's interval: the number of values below a median is
/// binomial (Conover, Practical Nonparametric Statistics, section 3.2).
fn rank(count: usize) -> usize {
    let (mut rank, mut term) = (0, 0.5f64.powi(count as i32));
    let mut below = term;
    while rank + 1 < count / 2 {
        term *= (count - rank) as f64 / (rank + 1) as f64;
        if 2.0 * (below + term) > OUTSIDE {
            break;
        }
        below += term;
        rank += 1;
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_key::bulk::SplitMix64;

    #[test]
    fn ranks_are_those_of_the_tables() {
        // The 6th and 20th... bounds of a median's 95% interval, as published tables have them (from 0 here).
        for (count, wanted) in [(6, 0), (8, 0), (9, 1), (12, 2), (15, 3), (20, 5), (25, 7)] {
            assert_eq!(rank(count), wanted, "{count}");
        }
    }

    #[test]
    fn the_ratio_is_that_of_the_sides_whatever_both_take() {
        let mut random = SplitMix64::new(1);
        for count in 0..=PAIRS {
            let ratio = (1 + random.below(1000)) as f64 / 100.0;
            let mut pair = || [1.0, ratio].map(|side| side * (100 + random.below(900)) as f64);
            let even: Vec<[f64; 2]> = (0..count)
                .map(|_| pair())
                .map(|[own, _]| [own, own * ratio])
                .collect();
            let found = of(&even);
            assert_eq!(found.is_some(), count >= PAIRS_MIN);
            let is_near = |own: f64| (own / ratio - 1.0).abs() < 1e-9;
            assert!(found.is_none_or(|found| {
                let mut all = found
                    .ratio_interval
                    .into_iter()
                    .chain([found.ratio, found.after_ns / found.before_ns]);
                found.pairs == count && all.all(is_near)
            }));
            let uneven: Vec<[f64; 2]> = (0..count).map(|_| pair()).collect();
            assert!(of(&uneven).is_none_or(|found| {
                let [low, high] = found.ratio_interval;
                low <= found.ratio && found.ratio <= high && low < high
            }));
        }
    }

    #[test]
    fn each_side_is_first_in_turn_and_too_few_pairs_say_nothing() {
        let mut sides = Vec::new();
        let found = measure(Duration::MAX, |side, block| {
            sides.push((block, side));
            Some(1)
        });
        let turns = (0..PAIRS).flat_map(|block| [(block, block % 2), (block, 1 - block % 2)]);
        assert!(found.is_some() && turns.eq(sides));
        assert_eq!(
            measure(Duration::MAX, |_, block| (block < 3).then_some(1)),
            None
        );
    }
}
