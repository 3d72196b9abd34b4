//! What the same rows would have written as they come, by the model of METHODOLOGY.md.

/// The page cache of a connection that nobody set up, in bytes (`PRAGMA cache_size` of -2000).
const CACHE_BYTES: u64 = 2000 * 1024;

/// Bytes written by inserts in random order of the key: as long as the tree fits the cache each of its pages
/// is written once; after that each row finds a leaf that isn't there, and has it written back.
pub(super) fn bytes(rows: u64, record_bytes: u64, page_bytes: u64) -> u64 {
    let row_bytes = record_bytes.checked_div(rows).unwrap_or(0).max(1);
    let rows_that_fit = CACHE_BYTES / row_bytes;
    let rows_after = rows.saturating_sub(rows_that_fit);
    rows_after * page_bytes + rows.min(rows_that_fit) * row_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_a_row_is_written_once_the_cache_is_full() {
        assert_eq!(bytes(0, 0, 4096), 0);
        assert_eq!(bytes(1000, 100_000, 4096), 100_000);
        // 200,000 rows of 110 bytes: 940 MB were measured.
        let megabytes = bytes(200_000, 22_000_000, 4096) / 1_000_000;
        assert!((700..900).contains(&megabytes), "{megabytes}");
    }
}
