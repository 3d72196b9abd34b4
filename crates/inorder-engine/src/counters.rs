//! What an engine asked of the operating system.

use std::ops::Sub;

/// Calls and bytes on one kind of file; `None` is unobservable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileIo {
    /// Bytes written.
    pub written_bytes: Option<u64>,
    /// Write calls.
    pub writes: Option<u64>,
    /// Bytes read (through calls: a memory map's reads can't be seen).
    pub read_bytes: Option<u64>,
    /// Read calls.
    pub reads: Option<u64>,
    /// Calls that wait for the disk.
    pub syncs: Option<u64>,
}

impl FileIo {
    /// Combines two, field by field; what is unobservable in one is so in both.
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
    /// What makes up the whole, each by its name: in SQLite `main` (the database file), `wal`,
    /// `journal` (super- and statement journals too) and `temp` (sorters, VACUUM's copy); a server
    /// has `main` (tables and indexes), `wal` (its log), and what it writes besides.
    pub files: Vec<(&'static str, FileIo)>,
    /// Numbers that explain the bytes and are no part of the whole, such as `checkpoints`.
    pub causes: Vec<(&'static str, u64)>,
}

impl Io {
    /// One kind of file; nothing of it is observable where the engine has none of the name.
    pub fn file(&self, name: &str) -> FileIo {
        let found = self.files.iter().find(|(file, _)| *file == name);
        found.map_or_else(FileIo::default, |(_, io)| *io)
    }

    /// All kinds of file together; what is unobservable in one of them is so in the whole.
    pub fn total(&self) -> FileIo {
        let mut files = self.files.iter().map(|(_, io)| *io);
        let first = files.next().unwrap_or_default();
        files.fold(first, |sum, io| sum.zip(io, |a, b| a + b))
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

/// What an engine's own count of bytes written is checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelCheck {
    /// The layer that sees the same bytes.
    pub layer: Layer,
    /// What only one of the two counts, in words.
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
