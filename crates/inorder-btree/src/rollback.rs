//! Replaces the content of a database file under SQLite's rollback journal.
//!
//! [`journal`] writes all pages of a file into a journal. While such a journal lies beside the file under the name that
//! SQLite gives it, whoever opens the database next restores the file from it. [`overwrite`] then writes the new content.
//! Removing the journal commits.
//!
//! Source: <https://www.sqlite.org/fileformat2.html#the_rollback_journal>.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::header::SCHEMA_COOKIE;
use crate::numbers::lock_page;
use crate::o_direct::{ALIGNMENT_BYTES, Aligned, DirectIo};

/// What a journal begins with.
const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Bytes of a sector, as the journal's header says: its own length.
const SECTOR_BYTES: usize = 4096;

/// Bytes read and written at once: a multiple of every page size.
const BLOCK_BYTES: usize = 1 << 22;

/// From each byte of a page that counts for its checksum to the next.
const CHECKSUM_STEP: usize = 200;

/// Where the header of a database counts changes, and where it repeats that number.
const CHANGE_COUNTERS: [usize; 2] = [24, 92];

/// Writes the journal of all pages of a database file, and syncs it.
///
/// Nobody may write to the file meanwhile. `journal` is empty and open for writing. It is no journal before this
/// function has returned: its first bytes come last. `look` is called between blocks; its error ends the work.
///
/// # Errors
/// What reading, writing and `look` bring.
pub fn journal(
    database: &File,
    page_bytes: u32,
    journal: &File,
    mut look: impl FnMut() -> io::Result<()>,
) -> io::Result<()> {
    let page_bytes = page_bytes as usize;
    let bytes = database.metadata()?.len();
    let pages = u32::try_from(bytes / page_bytes as u64).map_err(io::Error::other)?;
    let nonce = pages.wrapping_mul(0x9e37_79b9) ^ std::process::id();
    let pending = lock_page(page_bytes as u32);
    let mut out = Stream::new(journal, SECTOR_BYTES as u64);
    let (mut number, mut records) = (0u32, 0u32);
    let mut block = vec![0; BLOCK_BYTES];
    while number < pages {
        look()?;
        let count = (BLOCK_BYTES / page_bytes).min((pages - number) as usize);
        let block = &mut block[..count * page_bytes];
        database.read_exact_at(block, u64::from(number) * page_bytes as u64)?;
        for page in block.chunks_exact(page_bytes) {
            number += 1;
            // SQLite never writes the page that it locks; a journal with it would end there.
            if number != pending {
                out.put(&number.to_be_bytes())?;
                out.put(page)?;
                out.put(&checksum(nonce, page).to_be_bytes())?;
                records += 1;
            }
        }
    }
    out.finish()?;
    journal.sync_all()?;
    let mut header = [0; SECTOR_BYTES];
    header[..8].copy_from_slice(&MAGIC);
    let numbers = [
        records,
        nonce,
        pages,
        SECTOR_BYTES as u32,
        page_bytes as u32,
    ];
    for (field, number) in header[8..].chunks_exact_mut(4).zip(numbers) {
        field.copy_from_slice(&number.to_be_bytes());
    }
    journal.write_all_at(&header, 0)?;
    journal.sync_all()
}

/// The checksum of a page in a journal: counted from its end, one byte of every 200.
fn checksum(nonce: u32, page: &[u8]) -> u32 {
    let counted = page.iter().skip(page.len() % CHECKSUM_STEP);
    let counted = counted.step_by(CHECKSUM_STEP);
    counted.fold(nonce, |sum, byte| sum.wrapping_add(u32::from(*byte)))
}

/// Overwrites a database file with the content of another, and syncs it.
///
/// The header's change counter and schema cookie count on from those of the old content, so that open connections
/// read the file anew. The caller has SQLite's exclusive lock on the database and its [`journal`] in place: after an
/// error, the file is neither old nor new until SQLite has rolled the journal back.
///
/// # Errors
/// What reading and writing bring.
pub fn overwrite(database: &File, new: &File) -> io::Result<()> {
    let mut header = [0; 100];
    database.read_exact_at(&mut header, 0)?;
    let next = |at: usize| {
        let number = [header[at], header[at + 1], header[at + 2], header[at + 3]];
        u32::from_be_bytes(number).wrapping_add(1).to_be_bytes()
    };
    let (changes, cookie) = (next(CHANGE_COUNTERS[0]), next(SCHEMA_COOKIE));
    let bytes = new.metadata()?.len();
    let (from, to) = (DirectIo::begin(new, true), DirectIo::begin(database, true));
    let mut block = Aligned::new(BLOCK_BYTES);
    let mut offset = 0;
    while offset < bytes {
        let count = (bytes - offset).min(BLOCK_BYTES as u64) as usize;
        if !count.is_multiple_of(ALIGNMENT_BYTES) {
            from.end(new)?;
            to.end(database)?;
        }
        let block = &mut block[..count];
        from.read_exact_at(new, block, offset)?;
        if offset == 0 {
            for at in CHANGE_COUNTERS {
                block[at..at + 4].copy_from_slice(&changes);
            }
            block[SCHEMA_COOKIE..SCHEMA_COOKIE + 4].copy_from_slice(&cookie);
        }
        to.write_all_at(database, block, offset)?;
        offset += count as u64;
    }
    from.end(new)?;
    to.end(database)?;
    if database.metadata()?.len() > bytes {
        database.set_len(bytes)?;
    }
    database.sync_all()
}

/// Bytes that are written one after another in large blocks.
struct Stream<'a> {
    file: &'a File,
    io: DirectIo,
    block: Aligned,
    used: usize,
    /// Where the block belongs.
    offset: u64,
}

impl<'a> Stream<'a> {
    /// Begins at an offset that is a multiple of the alignment.
    fn new(file: &'a File, offset: u64) -> Self {
        Stream {
            file,
            io: DirectIo::begin(file, true),
            block: Aligned::new(BLOCK_BYTES),
            used: 0,
            offset,
        }
    }

    #[inline]
    fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while bytes.len() >= BLOCK_BYTES - self.used {
            let (part, rest) = bytes.split_at(BLOCK_BYTES - self.used);
            self.block[self.used..].copy_from_slice(part);
            self.io.write_all_at(self.file, &self.block, self.offset)?;
            self.offset += BLOCK_BYTES as u64;
            self.used = 0;
            bytes = rest;
        }
        self.block[self.used..][..bytes.len()].copy_from_slice(bytes);
        self.used += bytes.len();
        Ok(())
    }

    fn finish(self) -> io::Result<()> {
        self.io.end(self.file)?;
        self.file
            .write_all_at(&self.block[..self.used], self.offset)
    }
}
