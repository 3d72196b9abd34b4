//! Checks that the disk has room for what will be written.

use std::path::Path;

use crate::{Error, files::free_bytes};

/// The most overhead of a tree in bytes per row: lengths, offsets, page headers.
const ROW_BYTES: u64 = 24;

/// An upper estimate of the bytes of a tree.
pub(crate) fn tree_bytes(rows: u64, record_bytes: u64) -> u64 {
    record_bytes + record_bytes / 32 + rows * ROW_BYTES
}

/// Checks that a folder has room for a database or its temporary file.
///
/// # Errors
/// [`Error::DiskFull`] if it doesn't. If the system can't tell, the check passes.
pub(crate) fn check(folder: &Path, needed_bytes: u64) -> Result<(), Error> {
    check_for(folder, needed_bytes, false)
}

/// Checks that a folder has room for spilled rows.
///
/// # Errors
/// Those of [`check`].
pub(crate) fn check_spill(folder: &Path, needed_bytes: u64) -> Result<(), Error> {
    check_for(folder, needed_bytes, true)
}

fn check_for(folder: &Path, needed_bytes: u64, is_spilled: bool) -> Result<(), Error> {
    match free_bytes(folder) {
        Some(free_bytes) if free_bytes < needed_bytes => Err(Error::DiskFull {
            path: folder.to_owned(),
            needed_bytes,
            free_bytes,
            is_spilled,
        }),
        _ => Ok(()),
    }
}
