//! The pages of a file, mapped into memory: they are read without system calls and copies.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;

use memmap2::{Mmap, MmapOptions};

/// Bits of a place that are the length. A payload in one page is shorter than 64 KiB.
const LENGTH_BITS: u32 = 16;

/// The first bytes of a file, as they are in the page cache.
#[derive(Debug)]
pub struct Mapped(Mmap);

impl Mapped {
    /// Maps the first bytes of a file.
    pub(crate) fn new(file: &File, bytes: u64) -> io::Result<Self> {
        let bytes = usize::try_from(bytes).map_err(io::Error::other)?;
        // SAFETY: the bytes must not change while they are borrowed, and the file must not be cut before their end. That
        // is what `Reader` asks of its caller: a read transaction of SQLite, or a private copy. A process that ignores
        // SQLite's locks and cuts the file ends this process by a signal, at which the file stays as it is.
        Ok(Mapped(unsafe { MmapOptions::new().len(bytes).map(file)? }))
    }

    /// All of them.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The place of a record that was read from here; `None` where it was assembled from several pages.
    #[inline]
    #[must_use]
    pub fn place(&self, record: &[u8]) -> Option<u64> {
        let offset = record.as_ptr().addr().checked_sub(self.0.as_ptr().addr())?;
        let is_here = offset < self.0.len() && record.len() < 1 << LENGTH_BITS;
        is_here.then_some((offset as u64) << LENGTH_BITS | record.len() as u64)
    }

    /// The record at a place.
    ///
    /// # Panics
    /// If the place isn't of this file.
    #[inline]
    #[must_use]
    pub fn record(&self, place: u64) -> &[u8] {
        let (offset, length) = (place >> LENGTH_BITS, place & ((1 << LENGTH_BITS) - 1));
        &self.0[offset as usize..][..length as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_found_by_their_places_and_others_have_none() {
        let file = tempfile::tempfile().expect("a file");
        let content: Vec<u8> = (0..=255).cycle().take(10_000).collect();
        io::Write::write_all(&mut &file, &content).expect("written");
        let mapped = Mapped::new(&file, 9_000).expect("mapped");
        assert_eq!(mapped.bytes(), &content[..9_000]);
        for range in [0..1, 4_095..4_099, 8_999..9_000, 700..700] {
            let record = &mapped.bytes()[range.clone()];
            let place = mapped.place(record).expect("it is of the file");
            assert_eq!(mapped.record(place), &content[range]);
        }
        assert_eq!(mapped.place(&content), None);
    }
}
