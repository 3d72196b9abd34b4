//! The first 100 bytes of a file. Source: <https://www.sqlite.org/fileformat2.html#the_database_header>.

use crate::options::{AutoVacuum, Options};

/// Bytes of the header.
pub(crate) const HEADER_BYTES: usize = 100;

/// The file change counter of a new file.
const CHANGES: u32 = 1;

/// The format of schemas with descending indexes and the serial types 8 and 9.
const SCHEMA_FORMAT: u32 = 4;

/// The version of SQLite, as a number, that writes what is written here (3.53.0).
const SQLITE_VERSION: u32 = 3_053_000;

/// Where the header has the schema cookie.
pub(crate) const SCHEMA_COOKIE: usize = 40;

/// Puts the schema cookie into a file's first page.
///
/// # Panics
/// If the page has less than 100 bytes.
pub fn set_schema_cookie(first_page: &mut [u8], cookie: u32) {
    first_page[SCHEMA_COOKIE..SCHEMA_COOKIE + 4].copy_from_slice(&cookie.to_be_bytes());
}

/// The header of a file with `pages` pages, whose last root page is `last_root`.
pub(crate) fn header(options: &Options, pages: u32, last_root: u32) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    let mut put = |at: usize, bytes: &[u8]| header[at..][..bytes.len()].copy_from_slice(bytes);
    let version = if options.is_wal { 2 } else { 1 };
    let has_pointer_map = options.auto_vacuum != AutoVacuum::None;
    put(0, b"SQLite format 3\0");
    // 65536 is written as 1.
    let page_bytes = u16::try_from(options.page_bytes).unwrap_or(1);
    put(16, &page_bytes.to_be_bytes());
    put(18, &[version, version, options.reserved_bytes]);
    // The fractions of a page that payloads take: fixed.
    put(21, &[64, 32, 32]);
    put(24, &CHANGES.to_be_bytes());
    put(28, &pages.to_be_bytes());
    put(SCHEMA_COOKIE, &options.schema_cookie.to_be_bytes());
    put(44, &SCHEMA_FORMAT.to_be_bytes());
    let last_root = if has_pointer_map { last_root } else { 0 };
    put(52, &last_root.to_be_bytes());
    put(56, &options.encoding.number().to_be_bytes());
    put(60, &options.user_version.to_be_bytes());
    let is_incremental = options.auto_vacuum == AutoVacuum::Incremental;
    put(64, &u32::from(is_incremental).to_be_bytes());
    put(68, &options.application_id.to_be_bytes());
    put(92, &CHANGES.to_be_bytes());
    put(96, &SQLITE_VERSION.to_be_bytes());
    header
}
