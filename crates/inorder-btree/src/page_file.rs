//! Writes the pages of the file one after another in large blocks.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::o_direct::{Aligned, DirectIo};

/// Bytes per write: a multiple of every page size.
const BLOCK_BYTES: usize = 1 << 20;

/// A file that grows page by page.
#[derive(Debug)]
pub(crate) struct PageFile {
    file: Arc<File>,
    page_bytes: usize,
    block: Aligned,
    /// The bytes used of the block.
    used: usize,
    /// The bytes of the file before the block.
    written: u64,
    io: DirectIo,
}

impl PageFile {
    /// Begins after so many bytes of the file, a multiple of the alignment of direct I/O.
    pub(crate) fn new(
        file: Arc<File>,
        page_bytes: usize,
        bypasses_page_cache: bool,
        written: u64,
    ) -> Self {
        PageFile {
            io: DirectIo::begin(&file, bypasses_page_cache),
            file,
            page_bytes,
            block: Aligned::new(BLOCK_BYTES),
            used: 0,
            written,
        }
    }

    /// Begins the next page. Its content is undefined.
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
        self.io.write_all_at(&self.file, block, self.written)?;
        self.written += self.used as u64;
        self.used = 0;
        Ok(())
    }

    /// Writes the rest, which may be less than a block.
    pub(crate) fn finish(mut self) -> io::Result<Finished> {
        self.io.end(&self.file)?;
        self.write_block()?;
        Ok(Finished {
            file: self.file,
            page_bytes: self.page_bytes,
        })
    }
}

/// A file with all its pages, some of which are still to be overwritten.
#[derive(Debug)]
pub(crate) struct Finished {
    file: Arc<File>,
    page_bytes: usize,
}

impl Finished {
    /// Overwrites a page, by its number from 1.
    pub(crate) fn overwrite(&self, number: u32, page: &[u8]) -> io::Result<()> {
        let offset = u64::from(number - 1) * self.page_bytes as u64;
        self.file.write_all_at(page, offset)
    }

    pub(crate) fn into_file(self) -> Arc<File> {
        self.file
    }
}
