//! Writing past the page cache, where the file system can: of use for what is written once in large blocks.

use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::FileExt;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// What addresses, lengths and offsets are multiples of.
pub const ALIGNMENT_BYTES: usize = 4096;

/// Bytes that begin at a multiple of the alignment.
#[derive(Debug)]
pub struct Aligned {
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl Aligned {
    /// So many zeros.
    #[must_use]
    pub fn new(len: usize) -> Self {
        let memory = vec![0; len + ALIGNMENT_BYTES];
        Aligned {
            start: memory.as_ptr().align_offset(ALIGNMENT_BYTES),
            memory,
            len,
        }
    }
}

impl Deref for Aligned {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.memory[self.start..][..self.len]
    }
}

impl DerefMut for Aligned {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..][..self.len]
    }
}

/// Whether the page cache is passed by for a file; every call has to name the same one.
#[derive(Debug)]
pub struct DirectIo {
    is_on: bool,
}

impl DirectIo {
    /// Begins to pass it by, where that is wanted and the file system can.
    #[must_use]
    pub fn begin(file: &File, is_wanted: bool) -> Self {
        DirectIo {
            is_on: is_wanted && set_direct(file, true).is_ok(),
        }
    }

    /// Writes whole multiples of the alignment.
    ///
    /// # Errors
    /// What writing brings.
    pub fn write_all_at(&mut self, file: &File, block: &[u8], offset: u64) -> io::Result<()> {
        match file.write_all_at(block, offset) {
            // Some file systems take the flag and then refuse to write.
            Err(error) if self.is_on && error.kind() == io::ErrorKind::InvalidInput => {
                self.end(file)?;
                file.write_all_at(block, offset)
            }
            result => result,
        }
    }

    /// Goes through the page cache from now on, for blocks of any length.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn end(&mut self, file: &File) -> io::Result<()> {
        if std::mem::take(&mut self.is_on) {
            set_direct(file, false)?;
        }
        Ok(())
    }
}

fn set_direct(file: &File, is_direct: bool) -> io::Result<()> {
    let mut flags = fcntl_getfl(file)?;
    flags.set(OFlags::DIRECT, is_direct);
    Ok(fcntl_setfl(file, flags)?)
}
