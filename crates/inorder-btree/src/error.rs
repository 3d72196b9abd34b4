//! The errors of this crate.

use std::io;

use crate::record::Record;

/// The error of a file that is built. Entries of a tree are counted from 0.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// SQLite has no pages of this size.
    #[error("a page can't have {0} bytes; take a power of two from 512 to 65536")]
    PageBytes(u32),
    /// Too little of a page is left to use.
    #[error(
        "{reserved_bytes} of {page_bytes} bytes reserved leave less than the 480 that SQLite needs; \
         reserve fewer or take larger pages"
    )]
    ReservedBytes {
        /// Bytes of a page.
        page_bytes: u32,
        /// The unused bytes.
        reserved_bytes: u8,
    },
    /// Pages can't be filled so far.
    #[error("pages can't be filled to {0}%; take 10 to 100")]
    FillPercent(u8),
    /// The file has something in it already.
    #[error("the file to build holds {bytes} bytes already; bring an empty one")]
    NotEmpty {
        /// Its size.
        bytes: u64,
    },
    /// More or fewer trees were built than foreseen.
    #[error("{foreseen} trees were foreseen, {built} built; set `Options::trees` to what is built")]
    Trees {
        /// The number in the options.
        foreseen: u32,
        /// The number of entries, or one beyond the maximum.
        built: u32,
    },
    /// An entry sorts before the previous one.
    #[error("entry {entry} sorts before the entry that came before it; sort the entries first")]
    OutOfOrder {
        /// The entry.
        entry: u64,
    },
    /// An entry has the key of the previous one.
    #[error("entry {entry} has the key of the entry before it; keys of this tree are unique")]
    Duplicate {
        /// The second of the two.
        entry: u64,
    },
    /// A record is longer than SQLite reads.
    #[error(
        "the record of entry {entry} takes {bytes} bytes, more than the 1000000000 that SQLite reads"
    )]
    RecordTooLong {
        /// The entry.
        entry: u64,
        /// The record's length.
        bytes: usize,
    },
    /// The file would have more pages than SQLite can number.
    #[error("the file needs more than 4294967294 pages; take larger pages")]
    TooManyPages,
    /// A page of a file that is read isn't what it must be.
    #[error("page {page} is malformed; run PRAGMA integrity_check")]
    Malformed {
        /// The page, from 1.
        page: u32,
    },
    /// The file can't be read.
    #[error("cannot read the database file: {0}")]
    Read(io::Error),
    /// The file can't be written.
    #[error("cannot write the file that is built: {0}")]
    Write(#[from] io::Error),
}

/// A result of this crate.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Bytes of a value or record that SQLite reads where it is built as it comes (`SQLITE_MAX_LENGTH`).
const RECORD_BYTES_MAX: usize = 1_000_000_000;

#[inline]
pub(crate) fn check_record(entry: u64, record: &[u8]) -> Result<()> {
    debug_assert!(Record::parse(record).is_ok(), "entry {entry} is no record");
    let bytes = record.len();
    if bytes > RECORD_BYTES_MAX {
        return Err(Error::RecordTooLong { entry, bytes });
    }
    Ok(())
}
