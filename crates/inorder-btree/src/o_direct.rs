//! Reads and writes files with `O_DIRECT`, bypassing the page cache, if the file system supports it.
//!
//! It saves CPU time for data that is written once in large blocks. Source: `open(2)`.

use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

use memmap2::MmapMut;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// The alignment of addresses, lengths and offsets, in bytes.
pub const ALIGNMENT_BYTES: usize = 4096;

/// Buffers of this length and more are in large pages of memory where the system has them: direct I/O looks up each page.
const LARGE_BYTES: usize = 1 << 21;

/// A buffer whose address is a multiple of [`ALIGNMENT_BYTES`], which is the least page of memory.
#[derive(Debug, Default)]
pub struct Aligned(Option<MmapMut>);

impl Aligned {
    /// Allocates `len` zero bytes.
    ///
    /// # Panics
    /// If the system has no memory.
    #[must_use]
    pub fn new(len: usize) -> Self {
        let memory = MmapMut::map_anon(len).expect("memory for a buffer");
        #[cfg(target_os = "linux")]
        if len >= LARGE_BYTES {
            // It is as good without them.
            _ = memory.advise(memmap2::Advice::HugePage);
        }
        Aligned(Some(memory))
    }
}

impl Deref for Aligned {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl DerefMut for Aligned {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        self.0.as_deref_mut().unwrap_or_default()
    }
}

/// Direct I/O of one file. Every call must name the same file.
///
/// Some file systems accept the flag and then refuse a read or write. Such a file goes through the page cache from then
/// on.
#[derive(Debug)]
pub struct DirectIo {
    is_on: AtomicBool,
}

impl DirectIo {
    /// Sets `O_DIRECT` if it is wanted and the file system supports it.
    #[must_use]
    pub fn begin(file: &File, is_wanted: bool) -> Self {
        DirectIo {
            is_on: AtomicBool::new(is_wanted && set_o_direct(file, true).is_ok()),
        }
    }

    /// Writes a block. Its length and `offset`, in bytes, are multiples of the alignment.
    ///
    /// # Errors
    /// The system's error.
    pub fn write_all_at(&self, file: &File, block: &[u8], offset: u64) -> io::Result<()> {
        self.or_cached(file, || file.write_all_at(block, offset))
    }

    /// Reads a block. Its length and `offset`, in bytes, are multiples of the alignment.
    ///
    /// # Errors
    /// The system's error, or `UnexpectedEof` if the file ends before.
    pub fn read_exact_at(&self, file: &File, block: &mut [u8], offset: u64) -> io::Result<()> {
        self.or_cached(file, || file.read_exact_at(block, offset))
    }

    /// Runs it again through the page cache if the file system refuses direct I/O.
    #[inline]
    fn or_cached(&self, file: &File, mut run: impl FnMut() -> io::Result<()>) -> io::Result<()> {
        match run() {
            Err(error)
                if error.kind() == io::ErrorKind::InvalidInput
                    && self.is_on.load(Ordering::Relaxed) =>
            {
                self.end(file)?;
                run()
            }
            result => result,
        }
    }

    /// Uses the page cache from now on. Blocks may have any length then.
    ///
    /// # Errors
    /// The system's error.
    pub fn end(&self, file: &File) -> io::Result<()> {
        if self.is_on.swap(false, Ordering::Relaxed) {
            set_o_direct(file, false)?;
        }
        Ok(())
    }
}

fn set_o_direct(file: &File, is_on: bool) -> io::Result<()> {
    let mut flags = fcntl_getfl(file)?;
    flags.set(OFlags::DIRECT, is_on);
    Ok(fcntl_setfl(file, flags)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operations that a file system refuses although it accepts the flag.
    fn refused() -> io::Result<()> {
        Err(io::ErrorKind::InvalidInput.into())
    }

    #[test]
    fn refused_direct_io_goes_through_the_page_cache() {
        let file = tempfile::tempfile().expect("a file");
        let direct = DirectIo {
            is_on: AtomicBool::new(true),
        };
        let mut tries = 0;
        let result = direct.or_cached(&file, || {
            tries += 1;
            if tries == 1 { refused() } else { Ok(()) }
        });
        assert!(result.is_ok() && tries == 2);
        assert!(!direct.is_on.load(Ordering::Relaxed));
        assert!(direct.or_cached(&file, refused).is_err());
    }

    #[test]
    fn blocks_that_are_no_multiples_are_written_and_read() {
        let file = tempfile::tempfile().expect("a file");
        let direct = DirectIo::begin(&file, true);
        let (block, mut back) = (vec![7; 5000], vec![0; 5000]);
        direct.write_all_at(&file, &block, 0).expect("written");
        direct.read_exact_at(&file, &mut back, 0).expect("read");
        assert!(block == back);
    }
}
