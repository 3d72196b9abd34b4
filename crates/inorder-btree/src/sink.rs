//! The file, written from its beginning to its end in large blocks.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// Bytes written at a time: a multiple of every size of a page.
const BLOCK_BYTES: usize = 1 << 20;

/// What memory and offsets are multiples of where the page cache is passed by.
const ALIGNMENT_BYTES: usize = 4096;

/// A file that grows page by page.
#[derive(Debug)]
pub(crate) struct Sink {
    file: File,
    page_bytes: usize,
    memory: Vec<u8>,
    /// Where in `memory` the block begins.
    start: usize,
    /// Bytes of the block that are in use.
    used: usize,
    /// Bytes of the file that are written.
    written: u64,
    is_direct: bool,
}

impl Sink {
    pub(crate) fn new(file: File, page_bytes: usize, is_direct: bool) -> Self {
        let memory = vec![0; BLOCK_BYTES + ALIGNMENT_BYTES];
        let start = memory.as_ptr().align_offset(ALIGNMENT_BYTES);
        let is_direct = is_direct && set_direct(&file, true).is_ok();
        Sink {
            file,
            page_bytes,
            memory,
            start,
            used: 0,
            written: 0,
            is_direct,
        }
    }

    /// Begins the next page, whose content is whatever was in its place before.
    #[inline]
    pub(crate) fn next_page(&mut self) -> io::Result<()> {
        if self.used == BLOCK_BYTES {
            self.write_block()?;
        }
        self.used += self.page_bytes;
        Ok(())
    }

    /// The page that was begun last.
    #[inline]
    pub(crate) fn page(&mut self) -> &mut [u8] {
        let end = self.start + self.used;
        &mut self.memory[end - self.page_bytes..end]
    }

    fn write_block(&mut self) -> io::Result<()> {
        let block = &self.memory[self.start..][..self.used];
        let result = self.file.write_all_at(block, self.written);
        match result {
            // Some file systems take the flag and then refuse to write.
            Err(error) if self.is_direct && error.kind() == io::ErrorKind::InvalidInput => {
                set_direct(&self.file, false)?;
                self.is_direct = false;
                self.file.write_all_at(block, self.written)?;
            }
            result => result?,
        }
        self.written += self.used as u64;
        self.used = 0;
        Ok(())
    }

    /// Writes what is left, which may be less than a block.
    pub(crate) fn finish(mut self) -> io::Result<Finished> {
        if self.is_direct {
            set_direct(&self.file, false)?;
            self.is_direct = false;
        }
        self.write_block()?;
        Ok(Finished {
            file: self.file,
            page_bytes: self.page_bytes,
        })
    }
}

/// A file whose pages are all there, some of them still to be overwritten.
#[derive(Debug)]
pub(crate) struct Finished {
    file: File,
    page_bytes: usize,
}

impl Finished {
    /// Overwrites a page, by its number from 1.
    pub(crate) fn overwrite(&self, number: u32, page: &[u8]) -> io::Result<()> {
        let offset = u64::from(number - 1) * self.page_bytes as u64;
        self.file.write_all_at(page, offset)
    }

    pub(crate) fn into_file(self) -> File {
        self.file
    }
}

fn set_direct(file: &File, is_direct: bool) -> io::Result<()> {
    let mut flags = fcntl_getfl(file)?;
    flags.set(OFlags::DIRECT, is_direct);
    Ok(fcntl_setfl(file, flags)?)
}
