//! The counted bytes against those the kernel counted for the process. One test, so that nothing
//! else writes in this process meanwhile.
#![cfg(target_os = "linux")]

use inorder_engine::{Batch, Column, Engine, Journal, Retry, Settings, sqlite::Sqlite};
use std::fs;

/// Bytes this process handed to, and took from, calls like write(2) and read(2): proc_pid_io(5).
/// The bytes of the query itself, which the next reading includes.
fn kernel_bytes() -> (u64, u64, u64) {
    let text = fs::read_to_string("/proc/self/io").unwrap();
    let field = |name: &str| -> u64 {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len()..].trim().parse().unwrap()
    };
    (field("wchar:"), field("rchar:"), text.len() as u64)
}

#[test]
fn counted_bytes_are_the_kernels() {
    // SQLite reads its random seed once per process, outside of the VFS.
    let memory = rusqlite::Connection::open_in_memory().unwrap();
    memory.execute_batch("SELECT random()").unwrap();
    for &journal in Journal::ALL {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            journal,
            cache_kib: 200,
            ..Settings::default()
        };
        let (written_before, read_before, asking) = kernel_bytes();
        let database = Sqlite.create(folder.path(), &settings).unwrap();
        database
            .execute("CREATE TABLE t(x INTEGER PRIMARY KEY, y INTEGER UNIQUE)")
            .unwrap();
        let mut writer = database.writer("t", &["x", "y"], Retry::default()).unwrap();
        for batch in 0..20i64 {
            let rows = batch * 2000..(batch + 1) * 2000;
            let batch = Batch {
                columns: vec![
                    Column::Integers(rows.clone().collect()),
                    Column::Integers(rows.map(|row| row * 7919 % 1_000_003).collect()),
                ],
            };
            writer.begin().unwrap();
            writer.insert(&batch, 0..2000).unwrap();
            writer.commit().unwrap();
            writer.checkpoint_if_due().unwrap();
        }
        drop(writer);
        database.vacuum().unwrap();
        database.quiesce().unwrap();
        let io = database.io().total();
        let (written, read, _) = kernel_bytes();
        let (written, read) = (written - written_before, read - read_before - asking);
        println!(
            "{}: {io:?}, the kernel {written} and {read}",
            journal.name()
        );

        // The WAL's shared memory is grown by single bytes, unseen: one for each 4 KiB of it.
        let shared = if journal == Journal::Wal { 8 } else { 0 };
        assert_eq!(written - io.written_bytes.unwrap(), shared);
        // The allocator may look once at /proc/sys/vm/overcommit_memory, a single digit.
        assert!(read - io.read_bytes.unwrap() <= 1, "{read} and {io:?}");
    }
}
