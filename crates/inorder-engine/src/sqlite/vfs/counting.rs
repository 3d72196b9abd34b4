//! Counters of a VFS, and the choice of the counters for a file.

use crate::{FileIo, Io};
use rusqlite::ffi;
use std::{
    ffi::c_int,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// Application data of a counting VFS: the underlying VFS, and the counters of its database.
pub struct AppData {
    /// The underlying VFS.
    pub real: *mut ffi::sqlite3_vfs,
    main: FileCounters,
    wal: FileCounters,
    journal: FileCounters,
    temp: FileCounters,
}

/// A [`FileIo`] that all connections increment. Relaxed order is sufficient for sums.
#[derive(Default)]
pub struct FileCounters {
    written_bytes: AtomicU64,
    writes: AtomicU64,
    read_bytes: AtomicU64,
    reads: AtomicU64,
    syncs: AtomicU64,
}

impl AppData {
    pub fn new(real: *mut ffi::sqlite3_vfs) -> Self {
        AppData {
            real,
            main: FileCounters::default(),
            wal: FileCounters::default(),
            journal: FileCounters::default(),
            temp: FileCounters::default(),
        }
    }

    /// Returns the counters for a file with these open flags, of which SQLite sets exactly one file type.
    pub fn counters(&self, open_flags: c_int) -> &FileCounters {
        const JOURNALS: c_int = ffi::SQLITE_OPEN_MAIN_JOURNAL
            | ffi::SQLITE_OPEN_SUPER_JOURNAL
            | ffi::SQLITE_OPEN_SUBJOURNAL;
        if open_flags & ffi::SQLITE_OPEN_MAIN_DB != 0 {
            &self.main
        } else if open_flags & ffi::SQLITE_OPEN_WAL != 0 {
            &self.wal
        } else if open_flags & JOURNALS != 0 {
            &self.journal
        } else {
            &self.temp
        }
    }

    pub fn io(&self) -> Io {
        Io {
            files: vec![
                ("main", self.main.load()),
                ("wal", self.wal.load()),
                ("journal", self.journal.load()),
                ("temp", self.temp.load()),
            ],
            causes: Vec::new(),
        }
    }
}

impl FileCounters {
    /// Counts a write call and its bytes.
    pub fn wrote(&self, bytes: u64) {
        self.writes.fetch_add(1, Relaxed);
        self.written_bytes.fetch_add(bytes, Relaxed);
    }

    /// Counts a read call and its bytes.
    pub fn read(&self, bytes: u64) {
        self.reads.fetch_add(1, Relaxed);
        self.read_bytes.fetch_add(bytes, Relaxed);
    }

    /// Counts a sync.
    pub fn synced(&self) {
        self.syncs.fetch_add(1, Relaxed);
    }

    fn load(&self) -> FileIo {
        FileIo {
            written_bytes: Some(self.written_bytes.load(Relaxed)),
            writes: Some(self.writes.load(Relaxed)),
            read_bytes: Some(self.read_bytes.load(Relaxed)),
            reads: Some(self.reads.load(Relaxed)),
            syncs: Some(self.syncs.load(Relaxed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_file_has_its_counters() {
        let data = AppData::new(std::ptr::null_mut());
        for (flags, name) in [
            (ffi::SQLITE_OPEN_MAIN_DB, "main"),
            (ffi::SQLITE_OPEN_WAL, "wal"),
            (ffi::SQLITE_OPEN_MAIN_JOURNAL, "journal"),
            (ffi::SQLITE_OPEN_SUPER_JOURNAL, "journal"),
            (ffi::SQLITE_OPEN_SUBJOURNAL, "journal"),
            (ffi::SQLITE_OPEN_TEMP_DB, "temp"),
            (ffi::SQLITE_OPEN_TRANSIENT_DB, "temp"),
            (ffi::SQLITE_OPEN_TEMP_JOURNAL, "temp"),
        ] {
            let before = data.io();
            data.counters(flags | ffi::SQLITE_OPEN_READWRITE).wrote(7);
            let changed: Vec<_> = (data.io() - before)
                .files
                .into_iter()
                .filter(|(_, io)| io.writes != Some(0))
                .map(|(part, io)| (part, io.written_bytes.unwrap(), io.writes.unwrap()))
                .collect();
            assert_eq!(changed, [(name, 7, 1)]);
        }
    }
}
