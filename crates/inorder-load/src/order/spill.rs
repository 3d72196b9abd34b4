//! Sorted runs of rows in an unnamed file, which the system removes when the process ends.
//!
//! The page cache is passed by where the file system can: what is spilled is read once, from front to back.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use inorder_btree::o_direct::{ALIGNMENT_BYTES, Aligned, DirectIo};
use rustix::fs::{FallocateFlags, fallocate};

use super::arena::{FRAME_BYTES, Origin, frame, unframe};

const WRITE_BYTES: usize = 1 << 20;

/// Gives the room of a part of a file back.
const GONE: FallocateFlags = FallocateFlags::PUNCH_HOLE.union(FallocateFlags::KEEP_SIZE);

/// A file and the way it is read and written.
struct SpillFile {
    file: File,
    io: DirectIo,
}

/// Runs of rows, one after another, each from a multiple of the alignment on.
pub(super) struct Spill {
    file: Arc<SpillFile>,
    runs: Vec<std::ops::Range<u64>>,
    /// The start of the current run.
    run_start: u64,
    block: Aligned,
    /// Bytes of the block that are in use.
    used: usize,
    written_bytes: u64,
}

impl Spill {
    /// Creates an unnamed file in this folder.
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        // Only the owner may open the file, and it has a name only until that is removed.
        let file = tempfile::tempfile_in(folder)?;
        let io = DirectIo::begin(&file, true);
        Ok(Spill {
            file: Arc::new(SpillFile { file, io }),
            runs: Vec::new(),
            run_start: 0,
            block: Aligned::new(WRITE_BYTES),
            used: 0,
            written_bytes: 0,
        })
    }

    /// Adds a row to the run that is written.
    #[inline]
    pub(super) fn push(&mut self, record: &[u8], origin: Origin) -> io::Result<()> {
        self.put(&frame(record, origin))?;
        self.put(record)
    }

    #[inline]
    fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while bytes.len() >= WRITE_BYTES - self.used {
            let (part, rest) = bytes.split_at(WRITE_BYTES - self.used);
            self.block[self.used..].copy_from_slice(part);
            self.used = WRITE_BYTES;
            self.flush()?;
            bytes = rest;
        }
        self.block[self.used..][..bytes.len()].copy_from_slice(bytes);
        self.used += bytes.len();
        Ok(())
    }

    /// Ends the run that is written.
    pub(super) fn end_run(&mut self) -> io::Result<()> {
        let end = self.written_bytes + self.used as u64;
        let padded = self.used.next_multiple_of(ALIGNMENT_BYTES);
        self.block[self.used..padded].fill(0);
        self.used = padded;
        self.flush()?;
        self.runs.push(self.run_start..end);
        self.run_start = self.written_bytes;
        Ok(())
    }

    /// Writes what of the block is in use: whole multiples of the alignment.
    fn flush(&mut self) -> io::Result<()> {
        let block = &self.block[..self.used];
        let SpillFile { file, io } = &*self.file;
        io.write_all_at(file, block, self.written_bytes)?;
        self.written_bytes += self.used as u64;
        self.used = 0;
        Ok(())
    }

    pub(super) fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Bytes written.
    pub(super) fn bytes(&self) -> u64 {
        self.written_bytes
    }

    /// Whether the room of rows is given back as they are read.
    pub(super) fn gives_back(&self) -> bool {
        let behind = self.written_bytes;
        fallocate(&self.file.file, GONE, behind, ALIGNMENT_BYTES as u64).is_ok()
    }

    /// A reader of each run, each with about this much memory.
    pub(super) fn readers(&self, buffer_bytes: usize) -> impl Iterator<Item = RunReader> {
        // Reads begin and end at multiples of the alignment, for any memory.
        let buffer_bytes = buffer_bytes.next_multiple_of(ALIGNMENT_BYTES);
        self.runs.iter().map(move |run| RunReader {
            file: Arc::clone(&self.file),
            at: run.start,
            end: run.end,
            buffer: Aligned::new(ALIGNMENT_BYTES + buffer_bytes),
            read_from: ALIGNMENT_BYTES,
            next: 0,
            filled: 0,
            row: 0..0,
            origin: 0,
        })
    }
}

/// Reads the rows of a run in their order.
pub(super) struct RunReader {
    file: Arc<SpillFile>,
    /// The unread bytes of the run in the file.
    at: u64,
    end: u64,
    buffer: Aligned,
    /// The read position in the buffer; unread bytes are moved in front of it.
    read_from: usize,
    /// The start of the next row in the buffer, and the end of the buffer's content.
    next: usize,
    filled: usize,
    row: std::ops::Range<usize>,
    origin: Origin,
}

impl RunReader {
    /// Advances to the next row. Returns false at the end.
    #[inline]
    pub(super) fn advance(&mut self) -> io::Result<bool> {
        loop {
            if let Some((record, origin)) = unframe(&self.buffer[self.next..self.filled]) {
                let end = self.next + FRAME_BYTES + record.len();
                self.row = end - record.len()..end;
                self.origin = origin;
                self.next = end;
                return Ok(true);
            }
            if self.at >= self.end {
                return Ok(false);
            }
            self.refill()?;
        }
    }

    fn refill(&mut self) -> io::Result<()> {
        let left = self.filled - self.next;
        if left > self.read_from {
            self.grow(left);
        }
        self.buffer
            .copy_within(self.next..self.filled, self.read_from - left);
        self.next = self.read_from - left;
        let missing = self.end - self.at;
        let room = self.buffer.len() - self.read_from;
        let wanted = room.min(missing.next_multiple_of(ALIGNMENT_BYTES as u64) as usize);
        let into = &mut self.buffer[self.read_from..][..wanted];
        let SpillFile { file, io } = &*self.file;
        io.read_exact_at(file, into, self.at)?;
        // Nobody reads it again: the room goes to the database. A file system that can't give it back keeps it.
        _ = fallocate(file, GONE, self.at, wanted as u64);
        self.at += wanted as u64;
        self.filled = self.read_from + missing.min(wanted as u64) as usize;
        Ok(())
    }

    /// Makes room for a row of more than these bytes, twice as much each time.
    fn grow(&mut self, bytes: usize) {
        let room = bytes.next_multiple_of(ALIGNMENT_BYTES);
        let mut buffer = Aligned::new(2 * room.max(self.buffer.len()));
        buffer[self.next..self.filled].copy_from_slice(&self.buffer[self.next..self.filled]);
        self.buffer = buffer;
        self.read_from = room;
    }

    /// The row that was advanced to.
    #[inline]
    pub(super) fn row(&self) -> (&[u8], Origin) {
        (&self.buffer[self.row.clone()], self.origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::PathBuf;

    /// A folder on a disk and, if available, one in memory: they differ in their support for O_DIRECT.
    fn folders() -> Vec<PathBuf> {
        let memory = PathBuf::from("/dev/shm");
        let disk = std::env::temp_dir();
        std::iter::once(disk)
            .chain(memory.is_dir().then_some(memory))
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn runs_of_rows_of_any_size_come_back(
            runs in prop::collection::vec(
                prop::collection::vec(prop_oneof![0usize..300, 3000..5000usize, 0..3_000_000usize], 0..9),
                0..5,
            ),
            buffer_bytes in 1usize..200_000,
            folder in prop::sample::select(folders()),
        ) {
            let row = |bytes: &usize, at: usize| vec![at as u8 ^ *bytes as u8; *bytes];
            let mut spill = Spill::create(&folder).expect("a file");
            for rows in &runs {
                for (at, bytes) in rows.iter().enumerate() {
                    spill.push(&row(bytes, at), at as u64).expect("written");
                }
                spill.end_run().expect("written");
            }
            let readers = spill.readers(buffer_bytes);
            prop_assert_eq!(spill.runs(), runs.len());
            let gives_back = spill.gives_back();
            for (mut reader, rows) in readers.zip(&runs) {
                for (at, bytes) in rows.iter().enumerate() {
                    prop_assert!(reader.advance().expect("read"));
                    prop_assert!(reader.row() == (&row(bytes, at)[..], at as u64));
                }
                prop_assert!(!reader.advance().expect("read"));
            }
            let blocks = spill.file.file.metadata().expect("sizes").blocks();
            prop_assert!(blocks == 0 || !gives_back, "{} blocks", blocks);
        }
    }
}
