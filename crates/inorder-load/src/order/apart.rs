//! Sorts parts of a slice in several threads.

use super::in_memory::Pair;

/// Fewer pairs are sorted sooner than a thread starts.
const PAIRS_MIN: usize = 1 << 14;

/// Pairs from which the middle is estimated.
const SAMPLE_PAIRS: usize = 1 << 10;

/// Sorts pairs with as many threads as this. `sort` sorts a part by its prefixes; no prefix is in two parts.
pub(super) fn sort_apart(pairs: &mut [Pair], threads: usize, sort: &(impl Fn(&mut [Pair]) + Sync)) {
    if threads < 2 || pairs.len() < PAIRS_MIN {
        return sort(pairs);
    }
    let before = threads / 2;
    let pivot = estimated(pairs, before, threads);
    let below = partition(pairs, pivot);
    let (low, high) = pairs.split_at_mut(below);
    std::thread::scope(|scope| {
        scope.spawn(|| sort_apart(low, before, sort));
        sort_apart(high, threads - before, sort);
    });
}

/// A prefix that about `part` of `whole` pairs are below.
fn estimated(pairs: &[Pair], part: usize, whole: usize) -> u64 {
    let step = pairs.len() / SAMPLE_PAIRS;
    let mut sample: Vec<u64> = pairs.iter().step_by(step).map(|pair| pair.0).collect();
    sample.sort_unstable();
    sample[sample.len() * part / whole]
}

/// Moves the pairs below a prefix to the front. Returns how many there are.
fn partition(pairs: &mut [Pair], pivot: u64) -> usize {
    let mut below = 0;
    for at in 0..pairs.len() {
        // Without a branch: half of them could not be foreseen.
        let is_below = pairs[at].0 < pivot;
        pairs.swap(at, below);
        below += usize::from(is_below);
    }
    below
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in no order.
    fn shuffled(count: u64, most: u64) -> Vec<Pair> {
        let number = |i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7;
        (0..count).map(|i| (number(i) % most, i)).collect()
    }

    #[test]
    fn any_number_of_threads_sorts_alike() {
        for most in [1, 2, 3, 1000, u64::MAX] {
            let mut expected = shuffled(100_000, most);
            expected.sort_unstable();
            for threads in [1, 2, 3, 4, 7] {
                let mut pairs = shuffled(100_000, most);
                sort_apart(&mut pairs, threads, &|part: &mut [Pair]| {
                    part.sort_unstable()
                });
                assert!(pairs == expected, "{most} {threads}");
            }
        }
    }
}
