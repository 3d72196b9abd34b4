//! Files beside a database, and the room for them.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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

/// Whether a file still has this name.
pub(crate) fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    let own = file.metadata()?;
    match path.symlink_metadata() {
        Ok(named) => Ok((own.dev(), own.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// What a descriptor of a database is used for. Its flags, such as `O_DIRECT`, are those of everybody who has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads.
    Read,
    /// Reads and writes through the page cache.
    Cached,
    /// Reads and writes that may bypass the page cache, by one thread at a time.
    Direct,
}

/// Descriptors of databases that this process has had open.
static OPENED: Mutex<Vec<(Access, Arc<File>)>> = Mutex::new(Vec::new());

/// Opens the file of a database, for as long as the process lasts.
///
/// Closing a descriptor gives up the locks that all connections of the process have on the file
/// (<https://www.sqlite.org/howtocorrupt.html>, section 2.2). So one per file and access stays open.
///
/// # Errors
/// The system's error.
pub fn open_for_good(path: &Path, access: Access) -> io::Result<Arc<File>> {
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    // Nobody else has a file without a name.
    opened.retain(|(_, file)| !file.metadata().is_ok_and(|metadata| metadata.nlink() == 0));
    for (own, file) in opened.iter() {
        if *own == access && is_named(file, path)? {
            return Ok(Arc::clone(file));
        }
    }
    let is_written = access != Access::Read;
    let file = Arc::new(File::options().read(true).write(is_written).open(path)?);
    opened.push((access, Arc::clone(&file)));
    Ok(file)
}
