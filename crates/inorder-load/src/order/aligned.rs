//! Memory that files may be read into and written from past the page cache.

use std::ops::{Deref, DerefMut};

/// What addresses, lengths and offsets are multiples of.
pub(super) const ALIGNMENT_BYTES: usize = 4096;

/// Bytes that begin at a multiple of the alignment.
pub(super) struct Aligned {
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl Aligned {
    /// So many zeros.
    pub(super) fn new(len: usize) -> Self {
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
