//! Estimates the bytes that other load methods would have written, by the model of `METHODOLOGY.md`.

/// SQLite's default page cache, in bytes (`PRAGMA cache_size` of -2000).
const CACHE_BYTES: u64 = 2000 * 1024;

/// Bytes written by inserts in random order of the key.
///
/// As long as the tree fits the page cache, each page is written once. After that, each row misses the cache and evicts
/// a dirty leaf page.
pub(super) fn naive_bytes(rows: u64, record_bytes: u64, page_bytes: u64) -> u64 {
    let row_bytes = record_bytes.checked_div(rows).unwrap_or(0).max(1);
    let rows_that_fit = CACHE_BYTES / row_bytes;
    let rows_after = rows.saturating_sub(rows_that_fit);
    rows_after * page_bytes + rows.min(rows_that_fit) * row_bytes
}

/// A remark on batches that are too small for a table of so many leaves: nearly every batch dirties every leaf.
pub(super) fn small_batches(batch_rows: u64, leaves: u64) -> Option<String> {
    const ROWS_PER_LEAF: u64 = 7;
    let is_small = batch_rows < leaves.saturating_mul(ROWS_PER_LEAF) && leaves > 1;
    is_small.then(|| {
        format!(
            "batches of {batch_rows} rows have fewer than {ROWS_PER_LEAF} rows per leaf page of the table ({leaves} leaf pages), and \
             each batch writes nearly every leaf page: use --order full, or --batch-rows {} or more",
            leaves * ROWS_PER_LEAF
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_a_row_is_written_once_the_cache_is_full() {
        assert_eq!(naive_bytes(0, 0, 4096), 0);
        assert_eq!(naive_bytes(1000, 100_000, 4096), 100_000);
        // 200,000 rows of 110 bytes: 940 MB were measured.
        let megabytes = naive_bytes(200_000, 22_000_000, 4096) / 1_000_000;
        assert!((700..900).contains(&megabytes), "{megabytes}");
    }
}
