//! Sorted runs of rows in a file that has no name: whatever ends the process removes it.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use super::arena::{Origin, frame, unframe};

const WRITE_BYTES: usize = 1 << 20;

/// Runs of rows, one after another.
pub(super) struct Spill {
    file: Arc<File>,
    /// The end of each run: the next one begins there.
    ends: Vec<u64>,
    buffer: Vec<u8>,
    written_bytes: u64,
}

impl Spill {
    /// A file without a name in this folder.
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        Ok(Spill {
            file: Arc::new(tempfile::tempfile_in(folder)?),
            ends: Vec::new(),
            buffer: Vec::with_capacity(WRITE_BYTES + (1 << 16)),
            written_bytes: 0,
        })
    }

    /// Adds a row to the run that is written.
    #[inline]
    pub(super) fn push(&mut self, record: &[u8], origin: Origin) -> io::Result<()> {
        frame(record, origin, &mut self.buffer);
        if self.buffer.len() >= WRITE_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Ends the run that is written.
    pub(super) fn end_run(&mut self) -> io::Result<()> {
        self.flush()?;
        self.ends.push(self.written_bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self.file).write_all(&self.buffer)?;
        self.written_bytes += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    pub(super) fn runs(&self) -> usize {
        self.ends.len()
    }

    /// Bytes written.
    pub(super) fn bytes(&self) -> u64 {
        self.written_bytes
    }

    /// A reader of each run, each with this much memory.
    pub(super) fn readers(&self, buffer_bytes: usize) -> Vec<RunReader> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, end)| RunReader {
                file: Arc::clone(&self.file),
                at: start,
                end: *end,
                buffer: vec![0; buffer_bytes],
                next: 0,
                filled: 0,
                row: 0..0,
                origin: 0,
            })
            .collect()
    }
}

/// Reads the rows of a run in their order.
pub(super) struct RunReader {
    file: Arc<File>,
    /// What is left of the run in the file.
    at: u64,
    end: u64,
    buffer: Vec<u8>,
    /// Where the next row begins in the buffer, and where the buffer's content ends.
    next: usize,
    filled: usize,
    row: std::ops::Range<usize>,
    origin: Origin,
}

impl RunReader {
    /// Goes to the next row; false at the end.
    #[inline]
    pub(super) fn advance(&mut self) -> io::Result<bool> {
        loop {
            if let Some((record, origin)) = unframe(&self.buffer[self.next..self.filled]) {
                let end = self.next + super::arena::FRAME_BYTES + record.len();
                self.row = end - record.len()..end;
                self.origin = origin;
                self.next = end;
                return Ok(true);
            }
            if self.at == self.end {
                return Ok(false);
            }
            self.refill()?;
        }
    }

    fn refill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.next..self.filled, 0);
        self.filled -= self.next;
        self.next = 0;
        if self.filled == self.buffer.len() {
            self.buffer.resize((self.buffer.len() * 2).max(1 << 12), 0);
        }
        let room = (self.buffer.len() - self.filled) as u64;
        let wanted = room.min(self.end - self.at) as usize;
        let into = &mut self.buffer[self.filled..][..wanted];
        self.file.read_exact_at(into, self.at)?;
        self.at += wanted as u64;
        self.filled += wanted;
        Ok(())
    }

    /// The row that was advanced to.
    #[inline]
    pub(super) fn row(&self) -> (&[u8], Origin) {
        (&self.buffer[self.row.clone()], self.origin)
    }
}
