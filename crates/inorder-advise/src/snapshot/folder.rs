//! The private folder of the copies.

use crate::Error;
use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// How the names of these folders begin; the process that made one follows.
const PREFIX: &str = "inorder-advise-";

/// Makes a folder that only its owner can enter, in the system's temporary folder.
///
/// Folders that killed processes left there are removed. Dropping the folder removes it.
///
/// # Errors
/// [`Error::File`] where the folder cannot be made.
pub fn private_folder() -> Result<TempDir, Error> {
    let parent = std::env::temp_dir();
    remove_left(&parent);
    tempfile::Builder::new()
        .prefix(&format!("{PREFIX}{}-", std::process::id()))
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(&parent)
        .map_err(Error::io(parent))
}

/// Removes the folders of processes that have ended. Those of other users can't be removed, which is right.
fn remove_left(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX))
            .and_then(|rest| rest.split('-').next())
            .and_then(|id| id.parse::<u32>().ok());
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if let Some(id) = owner
            && is_folder
            && Path::new("/proc/self").exists()
            && !PathBuf::from(format!("/proc/{id}")).exists()
        {
            _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The bytes that are free where `folder` is. `None` where the system does not tell; writing will.
pub(crate) fn free_bytes(folder: &Path) -> Option<u64> {
    let system = rustix::fs::statvfs(folder).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize))
}

/// Fails if fewer than `needed_bytes` are free where `folder` is.
pub(crate) fn check_space(folder: &Path, needed_bytes: u64) -> Result<(), Error> {
    let Some(free_bytes) = free_bytes(folder).filter(|free_bytes| *free_bytes < needed_bytes)
    else {
        return Ok(());
    };
    Err(Error::NoSpace {
        needed_bytes,
        free_bytes,
        folder: folder.into(),
    })
}
