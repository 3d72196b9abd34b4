//! Settings of servers, as they read them back.

mod common;

use common::{is_postgres, servers};
use inorder_engine::{Engine, Profile, Settings, Synchronous};
use std::{collections::HashMap, path::Path};

fn read_back(engine: &dyn Engine, folder: &Path, settings: &Settings) -> HashMap<String, String> {
    let database = engine.create(folder, settings).unwrap();
    database.settings().unwrap().into_iter().collect()
}

#[test]
fn durability_and_caches_are_read_back() {
    for engine in servers() {
        for (synchronous, postgres, innodb) in [
            (Synchronous::Off, ["off", "off"], "0"),
            (Synchronous::Normal, ["on", "off"], "2"),
            (Synchronous::Full, ["on", "on"], "1"),
        ] {
            let folder = common::folder();
            let settings = Settings {
                synchronous,
                cache_kib: 16 << 10,
                checkpoint_pages: 4096,
                ..Settings::default()
            };
            let read = read_back(engine, folder.path(), &settings);
            if is_postgres(engine.name()) {
                assert_eq!([&*read["fsync"], &*read["synchronous_commit"]], postgres);
                assert_eq!(read["shared_buffers"], "16MB");
                assert_eq!(read["max_wal_size"], "32MB");
                assert_eq!(read["block_size"], "8192");
            } else {
                assert_eq!(read["innodb_flush_log_at_trx_commit"], innodb);
                assert_eq!(read["innodb_buffer_pool_size"], "16777216");
                assert_eq!(read["innodb_page_size"], "4096");
                assert_eq!(read["innodb_log_file_size"], "16777216");
            }
            assert_eq!(read["journal_mode"], "n/a");
        }
    }
}

#[test]
fn background_work_is_that_of_the_profile() {
    for engine in servers() {
        for (profile, postgres, innodb) in [
            (
                Profile::Reproducible,
                ["off", "1d", "0"],
                ["OFF", "70.000000"],
            ),
            (
                Profile::Production,
                ["on", "30s", "100"],
                ["ON", "10.000000"],
            ),
        ] {
            let folder = common::folder();
            let settings = Settings {
                profile,
                ..Settings::default()
            };
            let read = read_back(engine, folder.path(), &settings);
            if is_postgres(engine.name()) {
                let names = ["autovacuum", "checkpoint_timeout", "bgwriter_lru_maxpages"];
                assert_eq!(names.map(|name| &*read[name]), postgres);
                assert_eq!(read["full_page_writes"], "on");
            } else {
                assert_eq!(
                    [
                        &*read["innodb_stats_auto_recalc"],
                        &*read["innodb_adaptive_flushing_lwm"]
                    ],
                    innodb
                );
            }
        }
    }
}

#[test]
fn pages_are_written_twice_or_not() {
    for engine in servers() {
        for (full_page_writes, postgres, innodb) in [(true, "on", "ON"), (false, "off", "OFF")] {
            let folder = common::folder();
            let settings = Settings {
                full_page_writes,
                ..Settings::default()
            };
            let read = read_back(engine, folder.path(), &settings);
            match is_postgres(engine.name()) {
                true => assert_eq!(read["full_page_writes"], postgres),
                false => assert_eq!(read["innodb_doublewrite"], innodb),
            }
        }
    }
}

#[test]
fn every_page_size_starts_with_the_smallest_cache() {
    for engine in servers() {
        for page_size_bytes in [4096, 8192, 16_384, 32_768, 65_536] {
            let settings = Settings {
                page_size_bytes,
                cache_kib: 1,
                ..Settings::default()
            };
            let folder = common::folder();
            let read = read_back(engine, folder.path(), &settings);
            if !is_postgres(engine.name()) {
                assert_eq!(read["innodb_page_size"], page_size_bytes.to_string());
            } else {
                assert_eq!(read["shared_buffers"], "128kB");
                break;
            }
        }
    }
}
