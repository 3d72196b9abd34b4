//! Times of two databases, taken in turns: the median of each, and of the ratio with its 95% interval.

use serde::Serialize;
use std::time::{Duration, Instant};

/// Pairs that are measured; fewer where the time ends.
const PAIRS: usize = 25;
/// With fewer pairs the median has no 95% interval.
const PAIRS_MIN: usize = 6;
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

/// Measures blocks of runs in turns until there are enough or `limit` has passed. `run` runs the block of a number on one
/// side (0 before, 1 after) and returns how many runs it had. `None` where too few blocks fit into the time, or `run` has
/// no result.
pub(super) fn measure(
    limit: Duration,
    mut run: impl FnMut(usize, usize) -> Option<usize>,
) -> Option<Pairs> {
    let began = Instant::now();
    let (mut before, mut after, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for block in 0..PAIRS {
        if began.elapsed() > limit {
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
        before.push(ns[0]);
        after.push(ns[1]);
        ratios.push(ns[1] / ns[0].max(1.0));
    }
    if ratios.len() < PAIRS_MIN {
        return None;
    }
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

    #[test]
    fn ranks_are_those_of_the_tables() {
        // The 6th and 20th... bounds of a median's 95% interval, as published tables have them (from 0 here).
        for (count, wanted) in [(6, 0), (8, 0), (9, 1), (12, 2), (15, 3), (20, 5), (25, 7)] {
            assert_eq!(rank(count), wanted, "{count}");
        }
    }

    #[test]
    fn one_side_that_takes_twice_as_long_is_seen() {
        let spin = |micros: u64| {
            let began = Instant::now();
            while began.elapsed() < Duration::from_micros(micros) {}
        };
        let found = measure(Duration::from_secs(5), |side, _| {
            spin([200, 400][side]);
            Some(1)
        });
        let found = found.unwrap();
        assert!((1.5..3.0).contains(&found.ratio), "{found:?}");
        assert!(found.ratio_interval[0] <= found.ratio && found.ratio <= found.ratio_interval[1]);
    }

    #[test]
    fn too_few_pairs_say_nothing() {
        let slow = |_, _| {
            std::thread::sleep(Duration::from_millis(5));
            Some(1)
        };
        assert_eq!(measure(Duration::from_millis(20), slow), None);
        assert_eq!(measure(Duration::from_secs(1), |_, _| None), None);
    }
}
