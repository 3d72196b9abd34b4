//! Pairs dealt into buckets by their prefix as they come.
//!
//! Sorted rows are read from one bucket after another, of which the processor's caches hold far more than of all
//! rows at once: 5 million rows of 120 bytes are gathered in 0.22 s, without buckets in 0.32.

use super::arena::Place;
use super::pairs;

/// A prefix of a key and the place of its row.
pub(super) type Pair = (u64, Place);

/// As many as can be written to by turns at no cost: a fresh page of each stays in the cache until it is full.
/// With 256 it doesn't, and to write rows cost more than to gather them saved.
pub(super) const BUCKETS: usize = 32;

/// Pairs that the limits between buckets are taken from.
const SAMPLE_PAIRS: usize = 64 * BUCKETS;

/// Buckets in the order of their pairs' prefixes: equal prefixes are in one.
pub(super) struct Buckets {
    /// Where each bucket but the first begins; none as long as there is one bucket.
    starts: Vec<u64>,
    buckets: Vec<Vec<Pair>>,
    len: usize,
}

impl Buckets {
    /// One bucket.
    pub(super) fn new() -> Self {
        Buckets {
            starts: Vec::new(),
            buckets: vec![Vec::new()],
            len: 0,
        }
    }

    /// Which bucket a pair of this prefix is for.
    #[inline]
    pub(super) fn bucket(&self, prefix: u64) -> usize {
        self.starts.partition_point(|start| *start <= prefix)
    }

    /// The stream that the rows of a bucket go to. Those that came before there were buckets are in the first,
    /// which is no bucket's.
    #[inline]
    pub(super) fn stream(&self, bucket: usize) -> usize {
        match self.starts.is_empty() {
            true => 0,
            false => bucket + 1,
        }
    }

    /// Adds a pair to its bucket.
    #[inline]
    pub(super) fn push(&mut self, bucket: usize, pair: Pair) {
        self.buckets[bucket].push(pair);
        self.len += 1;
    }

    /// How many pairs there are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Whether there are enough pairs in the only bucket to deal by.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.len == SAMPLE_PAIRS && self.buckets.len() == 1
    }

    /// Deals the only bucket's pairs into [`BUCKETS`], fewer where many prefixes are equal.
    pub(super) fn deal(&mut self) {
        let pairs = std::mem::take(&mut self.buckets[0]);
        let mut prefixes: Vec<u64> = pairs.iter().map(|(prefix, _)| *prefix).collect();
        prefixes.sort_unstable();
        let step = prefixes.len().div_ceil(BUCKETS).max(1);
        self.starts = prefixes.into_iter().step_by(step).skip(1).collect();
        self.starts.dedup();
        self.buckets.resize_with(self.starts.len() + 1, Vec::new);
        for pair in pairs {
            let bucket = self.bucket(pair.0);
            self.buckets[bucket].push(pair);
        }
    }

    /// Sorts each bucket; pairs of equal prefixes by `settle`.
    pub(super) fn sort(&mut self, mut settle: impl FnMut(&mut [Pair])) {
        for bucket in &mut self.buckets {
            pairs::sort(bucket, &mut settle);
        }
    }

    /// The pairs of a bucket.
    #[inline]
    pub(super) fn get(&self, bucket: usize) -> Option<&[Pair]> {
        self.buckets.get(bucket).map(Vec::as_slice)
    }

    /// Gives a bucket's memory back.
    pub(super) fn free(&mut self, bucket: usize) {
        self.buckets[bucket] = Vec::new();
    }

    /// Forgets the pairs and keeps the memory, and the limits between buckets.
    pub(super) fn clear(&mut self) {
        self.buckets.iter_mut().for_each(Vec::clear);
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn dealt_pairs_come_in_order(
            prefixes in prop::collection::vec(prop_oneof![0u64..5, any::<u64>()], 0..600),
            before in 0usize..600,
        ) {
            let mut buckets = Buckets::new();
            for (place, prefix) in (0..).zip(&prefixes) {
                if place as usize == before {
                    buckets.deal();
                }
                let bucket = buckets.bucket(*prefix);
                buckets.push(bucket, (*prefix, place));
            }
            buckets.sort(<[Pair]>::sort_unstable);
            prop_assert_eq!(buckets.len(), prefixes.len());
            let mut expected: Vec<Pair> = prefixes.iter().copied().zip(0..).collect();
            expected.sort_unstable();
            let dealt: Vec<Pair> = buckets.buckets.concat();
            prop_assert_eq!(dealt, expected);
        }
    }
}
