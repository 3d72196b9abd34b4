//! Conversion of the settings to InnoDB's: <https://mariadb.com/kb/en/innodb-system-variables/>.

use crate::{Profile, Settings, Synchronous, Write};

/// Range of the page size in bytes.
const PAGE_BYTES_MIN: u32 = 4096;
const PAGE_BYTES_MAX: u32 = 65_536;
/// Minimum size of the buffer pool: 320 pages and their bookkeeping, 6 MiB with pages of 16 KiB.
const POOL_PAGES_MIN: u64 = 336;
const POOL_MIB_MIN: u64 = 2;
const POOL_KIB_MAX: u64 = 1 << 42;
/// Sizes of the log in bytes: the minimum of InnoDB, and a size that no trial fills.
const LOG_BYTES_MIN: u64 = 4 << 20;
const LOG_BYTES_MAX: u64 = 4 << 30;

/// Server settings that are reported, in this order.
pub const REPORTED: &[&str] = &[
    "version",
    "innodb_page_size",
    "innodb_buffer_pool_size",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_doublewrite",
    "innodb_log_file_size",
    "innodb_log_buffer_size",
    "innodb_file_per_table",
    "innodb_fill_factor",
    "innodb_change_buffering",
    "innodb_adaptive_flushing_lwm",
    "innodb_adaptive_hash_index",
    "innodb_io_capacity",
    "innodb_max_dirty_pages_pct",
    "innodb_purge_threads",
    "innodb_use_native_aio",
    "innodb_stats_auto_recalc",
    "foreign_key_checks",
    "sql_mode",
];

/// SQLite settings without a counterpart in this engine.
pub const NOT_APPLICABLE: &[&str] = &["journal_mode", "mmap_size", "auto_vacuum"];

/// Returns an error for a setting that the engine does not support. A cache below the minimum is raised to it.
pub fn accepts(settings: &Settings) -> Result<(), String> {
    if settings.write == Write::Routed {
        return Err("write by routed: every node stores every row".to_owned());
    }
    let bytes = settings.page_size_bytes;
    if !bytes.is_power_of_two() || !(PAGE_BYTES_MIN..=PAGE_BYTES_MAX).contains(&bytes) {
        return Err(format!(
            "set innodb_page_size to {bytes}: use a power of two from {PAGE_BYTES_MIN} to {PAGE_BYTES_MAX}"
        ));
    }
    if settings.cache_kib > POOL_KIB_MAX {
        let wanted = settings.cache_kib;
        return Err(format!(
            "set innodb_buffer_pool_size to {wanted} KiB: at most {POOL_KIB_MAX} KiB"
        ));
    }
    Ok(())
}

/// Returns the size of the buffer pool in bytes: whole MiB, at least the minimum for the page size.
fn pool_bytes(settings: &Settings) -> u64 {
    let page_bytes = u64::from(settings.page_size_bytes);
    let mib_min = (POOL_PAGES_MIN * page_bytes)
        .div_ceil(1 << 20)
        .max(POOL_MIB_MIN);
    settings.cache_kib.div_ceil(1024).max(mib_min) << 20
}

/// Returns the settings for the start of the server.
pub fn of_the_server(settings: &Settings) -> Vec<(&'static str, String)> {
    let page_bytes = u64::from(settings.page_size_bytes);
    let log_bytes = match u64::from(settings.checkpoint_pages) * page_bytes {
        0 => LOG_BYTES_MAX,
        bytes => bytes
            .next_multiple_of(1 << 20)
            .clamp(LOG_BYTES_MIN, LOG_BYTES_MAX),
    };
    let at_commit = match settings.synchronous {
        // The log is written and synced once per second, and not at a commit.
        Synchronous::Off => "0",
        // The log is written at a commit: a crash of the machine loses the last second, and never corrupts.
        Synchronous::Normal => "2",
        Synchronous::Full | Synchronous::Extra => "1",
    };
    let text = str::to_owned;
    vec![
        ("skip-networking", text("ON")),
        // Every client of the socket has all rights, until `confine` enables the checks.
        ("skip-grant-tables", text("ON")),
        // The server decides where the files of a table are.
        ("symbolic-links", text("OFF")),
        ("local-infile", text("ON")),
        ("performance-schema", text("OFF")),
        ("character-set-server", text("utf8mb4")),
        ("innodb-page-size", page_bytes.to_string()),
        // The pool size is a multiple of the chunk size.
        ("innodb-buffer-pool-chunk-size", text("1M")),
        ("innodb-buffer-pool-size", pool_bytes(settings).to_string()),
        ("innodb-buffer-pool-dump-at-shutdown", text("OFF")),
        ("innodb-buffer-pool-load-at-startup", text("OFF")),
        ("innodb-log-file-size", log_bytes.to_string()),
        ("innodb-flush-log-at-trx-commit", text(at_commit)),
        (
            "innodb-doublewrite",
            text(if settings.full_page_writes {
                "ON"
            } else {
                "OFF"
            }),
        ),
        // Without background work, statistics are computed on request. Purge always runs.
        (
            "innodb-stats-auto-recalc",
            text(match settings.profile {
                Profile::Reproducible => "OFF",
                Profile::Production => "ON",
            }),
        ),
        // The share of the log in percent above which pages are written each second: the maximum, and the default. Close above the
        // maximum, the log asks for all changed pages to be written.
        (
            "innodb-adaptive-flushing-lwm",
            text(match settings.profile {
                Profile::Reproducible => "70",
                Profile::Production => "10",
            }),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_cache_is_raised_to_what_the_page_size_needs() {
        let pool = |cache_kib, page_size_bytes| {
            pool_bytes(&Settings {
                cache_kib,
                page_size_bytes,
                ..Settings::default()
            }) >> 20
        };
        assert_eq!(pool(320, 4096), 2);
        assert_eq!(pool(320, 16_384), 6);
        assert_eq!(pool(10_240, 16_384), 10);
    }
}
