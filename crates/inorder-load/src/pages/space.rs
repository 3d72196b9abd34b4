//! Whether the disk has room for what is to be written.

use std::path::Path;

use crate::Error;

/// What a file of so many rows takes beside them at most, in bytes a row: lengths, offsets, page headers.
const ROW_BYTES: u64 = 24;

/// The bytes of a tree with these rows, foreseen on the high side.
pub(super) fn tree_bytes(rows: u64, record_bytes: u64) -> u64 {
    record_bytes + record_bytes / 32 + rows * ROW_BYTES
}

/// Checks that a folder has room for a database, or what is built beside it.
///
/// # Errors
/// [`Error::DiskFull`] where it doesn't. Where the system doesn't tell, writing will.
pub(super) fn check(folder: &Path, needed_bytes: u64) -> Result<(), Error> {
    check_for(folder, needed_bytes, false)
}

/// The same for rows that are spilled.
///
/// # Errors
/// As [`check`].
pub(crate) fn check_spill(folder: &Path, needed_bytes: u64) -> Result<(), Error> {
    check_for(folder, needed_bytes, true)
}

fn check_for(folder: &Path, needed_bytes: u64, is_spilled: bool) -> Result<(), Error> {
    let Ok(system) = rustix::fs::statvfs(folder) else {
        return Ok(());
    };
    let free_bytes = system.f_bavail.saturating_mul(system.f_frsize);
    if needed_bytes <= free_bytes {
        return Ok(());
    }
    Err(Error::DiskFull {
        path: folder.to_owned(),
        needed_bytes,
        free_bytes,
        is_spilled,
    })
}
