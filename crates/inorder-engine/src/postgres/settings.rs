//! Conversion of the settings to PostgreSQL's: <https://www.postgresql.org/docs/15/runtime-config.html>.

use super::WAL_SEGMENT_MIB;
use crate::{Profile, Settings, Synchronous, Write};
use postgres::Client;

/// KiB per page.
const PAGE_KIB: u64 = 8;
/// `shared_buffers` has at least 16 pages and at most 2^30 - 1.
const CACHE_KIB_MIN: u64 = 16 * PAGE_KIB;
const CACHE_KIB_MAX: u64 = 1_073_741_823 * PAGE_KIB;
/// `max_wal_size` has at least two files, and at most this many MiB.
const WAL_MIB_MIN: u64 = 2 * WAL_SEGMENT_MIB;
const WAL_MIB_MAX: u64 = 2_147_483_647;

/// Server settings that are reported, in this order.
const REPORTED: &[&str] = &[
    "server_version",
    "block_size",
    "shared_buffers",
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_level",
    "wal_segment_size",
    "max_wal_size",
    "wal_init_zero",
    "wal_recycle",
    "wal_compression",
    "checkpoint_timeout",
    "checkpoint_completion_target",
    "bgwriter_delay",
    "bgwriter_lru_maxpages",
    "autovacuum",
    "autovacuum_naptime",
    "work_mem",
    "maintenance_work_mem",
];

/// Returns an error for a setting that the engine does not support. A cache below the minimum is raised to it.
pub fn accepts(settings: &Settings) -> Result<(), String> {
    if settings.write == Write::Routed {
        return Err("write by routed: it is a single server".to_owned());
    }
    accepts_sizes(settings)
}

/// Returns the same for a server that is one of several.
pub fn accepts_sizes(settings: &Settings) -> Result<(), String> {
    if !settings.page_size_bytes.is_power_of_two() {
        let bytes = settings.page_size_bytes;
        return Err(format!("set page_size to {bytes}: use a power of two"));
    }
    if settings.cache_kib > CACHE_KIB_MAX {
        let wanted = settings.cache_kib;
        return Err(format!(
            "set shared_buffers to {wanted} KiB: at most {CACHE_KIB_MAX} KiB"
        ));
    }
    Ok(())
}

/// Returns the settings for the start of the server.
pub fn of_the_server(settings: &Settings) -> Vec<(&'static str, String)> {
    let on_off = |is_on: bool| if is_on { "on" } else { "off" }.to_owned();
    let cache_kib = settings.cache_kib.max(CACHE_KIB_MIN) / PAGE_KIB * PAGE_KIB;
    let wal_mib = match u64::from(settings.checkpoint_pages) * PAGE_KIB / 1024 {
        0 if settings.checkpoint_pages == 0 => WAL_MIB_MAX,
        mib => mib.clamp(WAL_MIB_MIN, WAL_MIB_MAX),
    };
    let (is_synced, waits) = match settings.synchronous {
        Synchronous::Off => (false, false),
        // As in SQLite: a crash loses the last transactions, and never corrupts.
        Synchronous::Normal => (true, false),
        Synchronous::Full | Synchronous::Extra => (true, true),
    };
    let is_production = settings.profile == Profile::Production;
    // The shortest interval of checkpoints, so that even a short trial has some.
    let timeout = if is_production { "30s" } else { "1d" };
    // Pages per round of the background writer; 100 is the server's default.
    let cleaned_pages = if is_production { "100" } else { "0" };
    vec![
        ("listen_addresses", String::new()),
        ("unix_socket_permissions", "0700".to_owned()),
        ("max_connections", "100".to_owned()),
        ("shared_buffers", format!("{cache_kib}kB")),
        ("fsync", on_off(is_synced)),
        ("synchronous_commit", on_off(waits)),
        ("full_page_writes", on_off(settings.full_page_writes)),
        ("max_wal_size", format!("{wal_mib}MB")),
        ("min_wal_size", format!("{WAL_MIB_MIN}MB")),
        // Without background work, the bytes written depend on the rows only: no checkpoint, no page write and no vacuum by
        // time, and no zero-filled WAL files.
        ("checkpoint_timeout", timeout.to_owned()),
        ("bgwriter_lru_maxpages", cleaned_pages.to_owned()),
        ("autovacuum", on_off(is_production)),
        ("autovacuum_naptime", "5s".to_owned()),
        ("wal_init_zero", on_off(is_production)),
        ("jit", on_off(false)),
        ("logging_collector", on_off(false)),
    ]
}

/// Returns every reported setting with the server's current value.
pub fn read_back(client: &mut Client) -> Result<Vec<(String, String)>, postgres::Error> {
    let mut all = Vec::new();
    for name in REPORTED {
        // Other versions and compatible servers may lack the setting.
        let row = client.query_one("SELECT current_setting($1, true)", &[name])?;
        let value: Option<String> = row.try_get(0)?;
        all.push((
            (*name).to_owned(),
            value.unwrap_or_else(|| "n/a".to_owned()),
        ));
    }
    for name in ["journal_mode", "mmap_size", "auto_vacuum"] {
        all.push((name.to_owned(), "n/a".to_owned()));
    }
    Ok(all)
}
