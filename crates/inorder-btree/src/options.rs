//! The options of a file.

use crate::error::{Error, Result};
use crate::record::TextEncoding;

/// When SQLite returns unused pages to the file system. Source: <https://www.sqlite.org/pragma.html#pragma_auto_vacuum>.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AutoVacuum {
    /// Only `VACUUM` does.
    #[default]
    None,
    /// Each commit does.
    Full,
    /// `PRAGMA incremental_vacuum` does.
    Incremental,
}

/// The options of a file. The defaults are those of SQLite: pages of 4096 bytes, UTF-8, no auto-vacuum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The page size in bytes: a power of two from 512 to 65536.
    pub page_bytes: u32,
    /// The bytes at the end of each page that are reserved for extensions.
    pub reserved_bytes: u8,
    /// The fill factor of the pages, in percent from 10 to 100. Use 100 for data at rest, and about 90 for a table that
    /// will grow anywhere but at its end, so that not every insert splits a page.
    pub fill_percent: u8,
    /// The encoding of all text.
    pub encoding: TextEncoding,
    /// When unused pages are returned. Any value but `None` takes 5 bytes of memory per page while the file is built.
    pub auto_vacuum: AutoVacuum,
    /// Whether the database is in WAL mode.
    pub is_wal: bool,
    /// `PRAGMA user_version`.
    pub user_version: i32,
    /// `PRAGMA application_id`.
    pub application_id: i32,
    /// `PRAGMA schema_version`.
    pub schema_cookie: u32,
    /// The number of tables and indexes that will be built, `sqlite_schema` not counted.
    pub trees: u32,
    /// Whether the file is written with `O_DIRECT`, bypassing the system's page cache, if the file system supports it.
    /// This takes much less CPU time of the system, but the next reader of the file reads it from the disk.
    pub bypasses_page_cache: bool,
    /// Whether a thread of its own writes the pages, so that the next ones are built while the disk works. It has ended
    /// when the builder is dropped or finished.
    pub writes_behind: bool,
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
            bypasses_page_cache: false,
            writes_behind: false,
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
