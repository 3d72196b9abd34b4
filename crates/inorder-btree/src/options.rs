//! What a file is to be like.

use crate::error::{Error, Result};
use crate::record::TextEncoding;

/// Whether and when the pages that a database no longer needs are given back. Source: `PRAGMA auto_vacuum`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AutoVacuum {
    /// Never, but by `VACUUM`.
    #[default]
    None,
    /// At each commit.
    Full,
    /// When `PRAGMA incremental_vacuum` asks for it.
    Incremental,
}

/// What a file is to be like. The default is what SQLite makes: pages of 4096 bytes, UTF-8, no auto-vacuum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Bytes of a page: a power of two from 512 to 65536.
    pub page_bytes: u32,
    /// Bytes at the end of each page that extensions keep for themselves.
    pub reserved_bytes: u8,
    /// How far pages are filled, in percent from 10 to 100. 100 for data at rest; about 90 for a table that
    /// keeps growing anywhere but at its end, so that not every insert splits a page.
    pub fill_percent: u8,
    /// The encoding of all text.
    pub encoding: TextEncoding,
    /// Whether unneeded pages are given back. Anything but `None` keeps 5 bytes a page in memory.
    pub auto_vacuum: AutoVacuum,
    /// Whether the database is in WAL mode when it is opened.
    pub is_wal: bool,
    /// `PRAGMA user_version`.
    pub user_version: i32,
    /// `PRAGMA application_id`.
    pub application_id: i32,
    /// `PRAGMA schema_version`.
    pub schema_cookie: u32,
    /// How many tables and indexes are built, without SQLite's own `sqlite_schema`.
    pub trees: u32,
    /// Whether the page cache of the system is passed by where the file system can: much less work for the
    /// system, but whoever reads the file next reads it from the disk.
    pub is_direct: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            page_bytes: 4096,
            reserved_bytes: 0,
            fill_percent: 100,
            encoding: TextEncoding::Utf8,
            auto_vacuum: AutoVacuum::None,
            is_wal: false,
            user_version: 0,
            application_id: 0,
            schema_cookie: 1,
            trees: 1,
            is_direct: false,
        }
    }
}

impl Options {
    pub(crate) fn check(&self) -> Result<()> {
        let &Options {
            page_bytes,
            reserved_bytes,
            fill_percent,
            ..
        } = self;
        if !page_bytes.is_power_of_two() || !(512..=65536).contains(&page_bytes) {
            return Err(Error::PageBytes(page_bytes));
        }
        if page_bytes - u32::from(reserved_bytes) < 480 {
            return Err(Error::ReservedBytes {
                page_bytes,
                reserved_bytes,
            });
        }
        if !(10..=100).contains(&fill_percent) {
            return Err(Error::FillPercent(fill_percent));
        }
        Ok(())
    }
}
