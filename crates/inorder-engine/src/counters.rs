//! What an engine asked of the operating system.

use std::ops::Sub;

/// Calls and bytes on one kind of file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileIo {
    /// Bytes written.
    pub written_bytes: u64,
    /// Write calls.
    pub writes: u64,
    /// Bytes read (through calls: a memory map's reads can't be seen).
    pub read_bytes: u64,
    /// Read calls.
    pub reads: u64,
    /// Calls that wait for the disk.
    pub syncs: u64,
}

/// Engine-issued input and output since the database was created, by kind of file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Io {
    /// The database file itself.
    pub main: FileIo,
    /// The write-ahead log.
    pub wal: FileIo,
    /// The rollback journal (super- and statement journals too).
    pub journal: FileIo,
    /// Temporary files (sorters, VACUUM's copy).
    pub temp: FileIo,
}

impl Io {
    /// Each kind of file with its name.
    pub fn parts(&self) -> [(&'static str, FileIo); 4] {
        [
            ("main", self.main),
            ("wal", self.wal),
            ("journal", self.journal),
            ("temp", self.temp),
        ]
    }

    /// All kinds of file together.
    pub fn total(&self) -> FileIo {
        self.parts()
            .iter()
            .fold(FileIo::default(), |sum, (_, io)| FileIo {
                written_bytes: sum.written_bytes + io.written_bytes,
                writes: sum.writes + io.writes,
                read_bytes: sum.read_bytes + io.read_bytes,
                reads: sum.reads + io.reads,
                syncs: sum.syncs + io.syncs,
            })
    }
}

impl Sub for FileIo {
    type Output = FileIo;

    fn sub(self, earlier: FileIo) -> FileIo {
        FileIo {
            written_bytes: self.written_bytes - earlier.written_bytes,
            writes: self.writes - earlier.writes,
            read_bytes: self.read_bytes - earlier.read_bytes,
            reads: self.reads - earlier.reads,
            syncs: self.syncs - earlier.syncs,
        }
    }
}

impl Sub for Io {
    type Output = Io;

    fn sub(self, earlier: Io) -> Io {
        Io {
            main: self.main - earlier.main,
            wal: self.wal - earlier.wal,
            journal: self.journal - earlier.journal,
            temp: self.temp - earlier.temp,
        }
    }
}
