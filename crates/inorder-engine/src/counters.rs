//! Counters of the input and output of an engine.

use std::ops::{Add, Sub};

/// Calls and bytes on one kind of file; `None` is unobservable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileIo {
    /// Bytes written.
    pub written_bytes: Option<u64>,
    /// Write calls.
    pub writes: Option<u64>,
    /// Bytes read by calls. Reads through a memory map are not visible.
    pub read_bytes: Option<u64>,
    /// Read calls.
    pub reads: Option<u64>,
    /// Calls that wait for the disk (syncs).
    pub syncs: Option<u64>,
}

impl FileIo {
    /// Adds two counters field by field. A field that is unobservable in one is unobservable in the sum.
    fn zip(self, other: FileIo, with: fn(u64, u64) -> u64) -> FileIo {
        let both = |a: Option<u64>, b: Option<u64>| Some(with(a?, b?));
        FileIo {
            written_bytes: both(self.written_bytes, other.written_bytes),
            writes: both(self.writes, other.writes),
            read_bytes: both(self.read_bytes, other.read_bytes),
            reads: both(self.reads, other.reads),
            syncs: both(self.syncs, other.syncs),
        }
    }
}

/// Engine-issued input and output since the database was created, by kind of file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Io {
    /// The parts of the total by name. SQLite has `main` (the database file), `wal`, `journal` (also super-journals
    /// and statement journals) and `temp` (sorters, and the copy that VACUUM makes). A server has `main` (tables and
    /// indexes), `wal` (its log), and its other files.
    pub files: Vec<(&'static str, FileIo)>,
    /// Numbers that explain the bytes and are not part of the total, such as `checkpoints`.
    pub causes: Vec<(&'static str, u64)>,
}

impl Io {
    /// Returns the counters of one kind of file. They are unobservable if the engine has no such file.
    pub fn file(&self, name: &str) -> FileIo {
        let found = self.files.iter().find(|(file, _)| *file == name);
        found.map_or_else(FileIo::default, |(_, io)| *io)
    }

    /// Returns the total of all kinds of file. A field that is unobservable in one is unobservable in the total.
    pub fn total(&self) -> FileIo {
        let mut files = self.files.iter().map(|(_, io)| *io);
        let first = files.next().unwrap_or_default();
        files.fold(first, |sum, io| sum.zip(io, |a, b| a + b))
    }
}

impl Add for Io {
    type Output = Io;

    /// Adds the counters of two servers of one engine.
    fn add(self, other: Io) -> Io {
        let cause = |(name, count): &(&'static str, u64)| {
            let others = other.causes.iter().find(|(cause, _)| cause == name);
            (*name, count + others.map_or(0, |(_, count)| *count))
        };
        Io {
            causes: self.causes.iter().map(cause).collect(),
            files: self
                .files
                .iter()
                .map(|(name, io)| (*name, io.zip(other.file(name), |a, b| a + b)))
                .collect(),
        }
    }
}

/// A layer of the kernel that counts bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Bytes passed to write calls (`wchar` of `/proc/PID/io`).
    WriteCalls,
    /// Bytes made dirty for a block device (`write_bytes` there).
    Block,
}

/// The kernel counter to compare with an engine's own count of written bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelCheck {
    /// The layer that counts the same bytes.
    pub layer: Layer,
    /// The bytes that only one of the two counts, for messages.
    pub gap: &'static str,
}

impl Sub for FileIo {
    type Output = FileIo;

    fn sub(self, earlier: FileIo) -> FileIo {
        self.zip(earlier, u64::saturating_sub)
    }
}

impl Sub for Io {
    type Output = Io;

    fn sub(self, earlier: Io) -> Io {
        let before = |name: &str| earlier.causes.iter().find(|(cause, _)| *cause == name);
        let since = |(name, count): &(&'static str, u64)| {
            let before = before(name).map_or(0, |(_, count)| *count);
            (*name, count.saturating_sub(before))
        };
        Io {
            causes: self.causes.iter().map(since).collect(),
            files: self
                .files
                .iter()
                .map(|(name, io)| (*name, *io - earlier.file(name)))
                .collect(),
        }
    }
}
