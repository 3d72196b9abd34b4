//! Files beside a database, and the room for them.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The path of a file beside a database, such as its journal: the same name with something behind it.
#[must_use]
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The bytes that are free where a folder is, for a user without privileges. `None` if the system doesn't tell.
#[must_use]
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let system = rustix::fs::statvfs(folder).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize))
}

/// Whether two folders share their free room.
pub(crate) fn is_same_file_system(a: &Path, b: &Path) -> bool {
    let device = |path: &Path| path.metadata().map(|metadata| metadata.dev());
    matches!((device(a), device(b)), (Ok(a), Ok(b)) if a == b)
}
