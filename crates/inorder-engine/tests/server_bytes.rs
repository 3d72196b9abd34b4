//! The bytes that servers count against those the kernel counted for their processes: PostgreSQL's
//! against calls like write(2), InnoDB's, which writes asynchronously, against the block layer.
#![cfg(target_os = "linux")]

mod common;

use common::{servers, typed};
use inorder_engine::{Batch, Column, Database, Retry, Settings, Synchronous, Write};
use std::fs;

/// Sum of a field of `/proc/PID/io` over a server's processes (proc_pid_io(5)).
fn kernel_bytes(database: &dyn Database, name: &str) -> u64 {
    let texts = database.processes().into_iter().filter_map(|pid| {
        // A session that ended meanwhile is in its parent's sum.
        fs::read_to_string(format!("/proc/{pid}/io")).ok()
    });
    texts
        .map(|text| {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap();
            line[name.len()..].trim().parse::<u64>().unwrap()
        })
        .sum()
}

/// Whether a server's files are on a disk: tmpfs has no block layer.
fn is_on_disk() -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    !mounts.lines().any(|line| {
        let mut fields = line.split(' ').skip(1);
        let place = (fields.next(), fields.next());
        matches!(place, (Some("/tmp" | "/var/tmp"), Some("tmpfs")))
    })
}

/// Random keys, 400 bytes per row, so that many pages are changed often.
fn write_rows(database: &dyn Database, rows: u64) {
    let mut writer = database.writer("t", &["x", "y"], Retry::default()).unwrap();
    for first in (0..rows).step_by(1000) {
        let rows = first..first + 1000;
        let key = |row: u64| row.wrapping_mul(0x9e37_79b9_7f4a_7c15).cast_signed();
        let batch = Batch {
            columns: vec![
                Column::Integers(rows.clone().map(key).collect()),
                Column::Fixed {
                    width_bytes: 400,
                    bytes: rows.flat_map(|row| [row as u8; 400]).collect(),
                    is_text: false,
                },
            ],
        };
        writer.begin().unwrap();
        writer.insert(&batch, 0..1000).unwrap();
        writer.commit().unwrap();
    }
}

#[test]
fn servers_count_what_the_kernel_counts() {
    for engine in servers() {
        let (field, tolerance) = match engine.name() {
            // Each transaction ends within a page of each shard's log, which is written again.
            "postgres-sharded" => ("wchar:", 0.03),
            "postgres" => ("wchar:", 0.01),
            // A node's ring of messages is a memory map: the kernel's to write, when it likes.
            "galera" => continue,
            _ if is_on_disk() => ("write_bytes:", 0.01),
            _ => continue,
        };
        let folder = common::folder_on_disk();
        let settings = Settings {
            page_size_bytes: 16_384,
            synchronous: Synchronous::Full,
            checkpoint_pages: 2000,
            // Through a coordinator the same rows take a minute.
            write: match engine.name() {
                "postgres-sharded" => Write::Routed,
                _ => Write::Insert,
            },
            ..Settings::default()
        };
        let database = engine.create(folder.path(), &settings).unwrap();
        let ddl = "CREATE TABLE t(x {int} PRIMARY KEY, y {blob})";
        database.execute(&typed(engine.name(), ddl)).unwrap();
        database.quiesce().unwrap();
        let (counted, kernels) = (database.io(), kernel_bytes(&*database, field));
        write_rows(&*database, 20_000);
        database.quiesce().unwrap();
        let counted = database.io() - counted;
        let kernels = kernel_bytes(&*database, field) - kernels;
        let written = counted.total().written_bytes.unwrap();
        println!(
            "{}: {written}, the kernel {kernels}: {counted:?}",
            engine.name()
        );
        let off = (written as f64 / kernels as f64 - 1.0).abs();
        assert!(
            off < tolerance,
            "{}: {written} and {kernels}",
            engine.name()
        );
        assert!(written > 20_000 * 400, "{counted:?}");
    }
}
