//! How the contents of a node that has grown are divided.

use std::ops::Range;

/// Bytes of a node: it fits into one page of the file with its head.
pub const NODE_BYTES_MAX: usize = 8000;

/// A smaller node is joined with its neighbour.
pub const NODE_BYTES_MIN: u64 = 2000;

/// An inner node has so many children before it is divided, whatever their size.
pub const CHILDREN_MIN: usize = 16;

/// Divides items of such sizes into as few nodes of equal size as hold them.
pub fn split(
    sizes: impl ExactSizeIterator<Item = usize> + Clone,
    items_min: usize,
) -> Vec<Range<usize>> {
    let (count, total) = (sizes.len(), sizes.clone().sum::<usize>());
    let nodes = total.div_ceil(NODE_BYTES_MAX).min(count / items_min).max(1);
    let (mut ranges, mut start, mut bytes) = (Vec::with_capacity(nodes), 0, 0);
    for (at, size) in sizes.enumerate() {
        bytes += size;
        // The end of this node, as a share of all bytes.
        let end = total * (ranges.len() + 1) / nodes;
        let is_full = bytes >= end && at + 1 - start >= items_min;
        if is_full && ranges.len() + 1 < nodes {
            ranges.push(start..at + 1);
            start = at + 1;
        }
    }
    if start < count {
        ranges.push(start..count);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_of_equal_size_and_lose_nothing() {
        for (sizes, items_min) in [
            (vec![100; 1000], 1),
            (vec![1; 3], 1),
            (vec![50_000; 5], 1),
            (vec![2000; 100], 16),
            ((0..500).map(|n| n * 7 % 300).collect(), 1),
        ] {
            let ranges = split(sizes.iter().copied(), items_min);
            let joined: Vec<usize> = ranges.iter().cloned().flatten().collect();
            assert_eq!(joined, (0..sizes.len()).collect::<Vec<_>>());
            for range in &ranges {
                assert!(range.len() >= items_min || ranges.len() == 1, "{range:?}");
            }
            let bytes = ranges
                .iter()
                .map(|range| sizes[range.clone()].iter().sum::<usize>());
            if items_min == 1 && sizes.iter().max() < Some(&1000) {
                assert!(bytes.max() < Some(NODE_BYTES_MAX + 1000));
            }
        }
        assert!(split([].into_iter(), 1).is_empty());
    }
}
