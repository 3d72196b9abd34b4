//! Files that only their owner reads: they hold people's lists, and the hashes of their passwords.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io,
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

/// What the owner may do, and nobody else anything.
const MODE: u32 = 0o600;

/// Makes a file if there is none. SQLite gives the files beside it the same mode.
///
/// # Errors
/// What the system says; a file that is there already is none.
pub fn create(path: &Path) -> io::Result<()> {
    match create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        done => done.map(drop),
    }
}

/// Makes a new file.
///
/// # Errors
/// What the system says, for instance that there is one.
pub fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(MODE).open(path)
}

/// Closes a file and those that SQLite has beside it to others, which a version before this one left open to them. What
/// belongs to somebody else stays as it is.
///
/// # Errors
/// What the system says.
pub fn close(path: &Path) -> io::Result<()> {
    let beside = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    for path in [path.to_owned(), beside("-wal"), beside("-shm")] {
        let mode = match fs::metadata(&path) {
            Ok(metadata) => metadata.permissions().mode(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        if mode & 0o077 == 0 {
            continue;
        }
        match fs::set_permissions(&path, Permissions::from_mode(MODE)) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                tracing::warn!("{} can be read by others: chmod 600", path.display());
            }
            done => done?,
        }
    }
    Ok(())
}
