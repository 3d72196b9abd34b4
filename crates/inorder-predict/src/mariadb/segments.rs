//! Pages that InnoDB's segments allocate: `fseg_alloc_free_page_low` and `fseg_n_reserved_pages` of `fsp0fsp.cc`.
//!
//! An index has a segment for its leaf pages and one for its interior pages. A segment's first pages are single ones, half
//! an extent of them (`FSEG_FRAG_ARR_N_SLOTS`).
//! Then it gets extents of 1 MiB (64 pages of 16 KiB), and the next one as soon as less than an eighth of its pages or less
//! than four extents are free. So up to 12% of an index of some MiB are allocated and unused. Pages of long values get an
//! extent only when none is free. `innodb_index_stats.size`, `DATA_LENGTH` and `INDEX_LENGTH` count
//! allocated pages (<https://mariadb.com/kb/en/innodb-tablespaces/>).

/// Bytes of an extent, and its pages at least.
const EXTENT_BYTES: u64 = 1 << 20;
const EXTENT_PAGES_MIN: u64 = 64;
/// A segment keeps one page of so many free.
const FREE_PART: u64 = 8;
/// So many free extents are enough for a large segment.
const FREE_EXTENTS: u64 = 4;

/// Pages of an extent.
pub fn extent_pages(page_bytes: u64) -> u64 {
    (EXTENT_BYTES / page_bytes).max(EXTENT_PAGES_MIN)
}

/// Pages that a segment has allocated for so many pages of a tree, and others evenly between them.
pub fn allocated_pages(pages: u64, others: u64, extent: u64) -> u64 {
    let (mut reserved, mut used, mut due) = (0, 0, 0);
    for _ in 0..pages {
        due += others;
        let between = due / pages;
        due %= pages;
        for is_other in std::iter::once(false).chain((0..between).map(|_| true)) {
            let free_min = match is_other {
                true => 1,
                false => (reserved / FREE_PART).min(FREE_EXTENTS * extent),
            };
            reserved += match used {
                _ if used < extent / 2 => 1,
                _ if reserved - used < free_min => extent,
                _ => 0,
            };
            used += 1;
        }
    }
    reserved
}

/// The same for a tree whose last page is always the one that is split: a new page follows the last one, up to the end of its extent.
pub(crate) fn ascending_pages(pages: u64, extent: u64) -> u64 {
    match pages.checked_sub(extent / 2) {
        None => pages,
        Some(more) => extent / 2 + more.next_multiple_of(extent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_those_of_the_server() {
        // Leaf pages, interior pages, and allocated pages of MariaDB 10.11.19 after ALTER TABLE … FORCE.
        let indexes = [
            (29, 1, 30),
            (47, 1, 97),
            (561, 3, 675),
            (931, 6, 1126),
            (1220, 5, 1445),
            (2703, 20, 2996),
            (3226, 4, 3492),
            (7259, 8, 7528),
        ];
        for (leaves, interior, size) in indexes {
            let segments = [leaves, interior].map(|pages| allocated_pages(pages, 0, 64));
            assert_eq!(segments[0] + segments[1], size);
        }
        // The same with pages of 4 KiB: extents of 256 pages, so that the first 128 are single ones.
        assert_eq!(
            allocated_pages(310, 0, 256) + allocated_pages(4, 0, 256),
            388
        );
        // 5,000 values of two pages each beside 15 leaf pages.
        assert_eq!(allocated_pages(15, 10_000, 64) + 1, 10_017);
    }
}
