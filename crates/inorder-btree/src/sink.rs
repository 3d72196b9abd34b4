//! The file, written from its beginning to its end in large blocks.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::direct::{Aligned, DirectIo};

/// Bytes written at a time: a multiple of every size of a page.
const BLOCK_BYTES: usize = 1 << 20;

/// A file that grows page by page.
#[derive(Debug)]
pub(crate) struct Sink {
    file: File,
    page_bytes: usize,
    block: Aligned,
    /// Bytes of the block that are in use.
    used: usize,
    /// Bytes of the file that are written.
    written: u64,
    direct: DirectIo,
}

impl Sink {
    pub(crate) fn new(file: File, page_bytes: usize, is_direct: bool) -> Self {
        Sink {
            direct: DirectIo::begin(&file, is_direct),
            file,
            page_bytes,
            block: Aligned::new(BLOCK_BYTES),
            used: 0,
            written: 0,
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
        &mut self.block[self.used - self.page_bytes..self.used]
    }

    fn write_block(&mut self) -> io::Result<()> {
        let block = &self.block[..self.used];
        self.direct.write_all_at(&self.file, block, self.written)?;
        self.written += self.used as u64;
        self.used = 0;
        Ok(())
    }

    /// Writes what is left, which may be less than a block.
    pub(crate) fn finish(mut self) -> io::Result<Finished> {
        self.direct.end(&self.file)?;
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
