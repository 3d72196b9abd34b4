//! Writes the pages of the file one after another in large blocks.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use crate::o_direct::{Aligned, DirectIo};
use crate::options::Options;

/// Bytes per write: a multiple of every page size, and a large page of memory.
const BLOCK_BYTES: usize = 1 << 21;

/// Blocks that wait while another is written behind.
const WAITING_MAX: usize = 2;

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
    io: Arc<DirectIo>,
    /// The thread that writes blocks.
    behind: Option<Behind>,
}

impl PageFile {
    /// Begins after so many bytes of the file, a multiple of the alignment of direct I/O.
    pub(crate) fn new(file: Arc<File>, options: &Options, written: u64) -> Self {
        let io = Arc::new(DirectIo::begin(&file, options.bypasses_page_cache));
        PageFile {
            behind: options.writes_behind.then(|| Behind::start(&file, &io)),
            io,
            file,
            page_bytes: options.page_bytes as usize,
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
        match &mut self.behind {
            Some(behind) => {
                self.block = behind.write(std::mem::take(&mut self.block), self.written)?
            }
            None => self.write_here()?,
        }
        self.written += self.used as u64;
        self.used = 0;
        Ok(())
    }

    fn write_here(&self) -> io::Result<()> {
        let block = &self.block[..self.used];
        self.io.write_all_at(&self.file, block, self.written)
    }

    /// Writes the rest, which may be less than a block.
    pub(crate) fn finish(mut self) -> io::Result<Finished> {
        if let Some(behind) = self.behind.take() {
            behind.finish()?;
        }
        self.io.end(&self.file)?;
        self.write_here()?;
        Ok(Finished {
            file: self.file,
            page_bytes: self.page_bytes,
        })
    }
}

/// Writes whole blocks in a thread of its own.
#[derive(Debug)]
struct Behind {
    /// A block and its place in the file.
    full: Option<SyncSender<(Aligned, u64)>>,
    empty: Receiver<Aligned>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Behind {
    fn start(file: &Arc<File>, io: &Arc<DirectIo>) -> Self {
        let (full, blocks) = sync_channel::<(Aligned, u64)>(WAITING_MAX);
        let (written, empty) = channel();
        let (file, io) = (Arc::clone(file), Arc::clone(io));
        let thread = std::thread::spawn(move || {
            for (block, offset) in blocks {
                io.write_all_at(&file, &block, offset)?;
                // The other end may want no more.
                _ = written.send(block);
            }
            Ok(())
        });
        Behind {
            full: Some(full),
            empty,
            thread: Some(thread),
        }
    }

    /// Has a whole block written. Returns another one, whose content is undefined.
    fn write(&mut self, block: Aligned, offset: u64) -> io::Result<Aligned> {
        let is_sent = match &self.full {
            Some(full) => full.send((block, offset)).is_ok(),
            None => false,
        };
        match is_sent {
            true => Ok(self
                .empty
                .try_recv()
                .unwrap_or_else(|_| Aligned::new(BLOCK_BYTES))),
            // Only an error ends the thread before.
            false => Err(self.join().err().unwrap_or_else(ended)),
        }
    }

    /// Waits until every block is written.
    fn finish(mut self) -> io::Result<()> {
        self.join()
    }

    fn join(&mut self) -> io::Result<()> {
        self.full = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(written)) => written,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(()),
        }
    }
}

impl Drop for Behind {
    /// Nothing is written to the file afterwards: its owner may cut it off.
    fn drop(&mut self) {
        self.full = None;
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

fn ended() -> io::Error {
    io::Error::other("an earlier block couldn't be written")
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
