//! The file beside a database that the new content is built in.

use std::fs::{File, Metadata, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::Error;
use crate::apply::UNPACKED;
use crate::snapshot::beside;

/// What may be put beside it.
const COMPANIONS: [&str; 5] = ["-journal", "-wal", "-shm", UNPACKED, OLD];

/// The journal of the old content, before it gets its name.
const OLD: &str = "-old";

/// A file beside a database that one process at a time can have. It is removed when this is dropped; what a killed
/// process left, the next one removes.
#[derive(Debug)]
pub(super) struct Aside {
    path: PathBuf,
    /// The database.
    like: Metadata,
    /// Holds the lock that says somebody uses it.
    _lock: File,
}

impl Aside {
    /// Makes an empty file beside a database, with its mode and, for root, its owner: it gets the same content.
    ///
    /// # Errors
    /// Where another process has it, or it can't be made.
    pub(super) fn create(database: &Path) -> Result<Self, Error> {
        let path = beside(database, ".inorder-rekey");
        let failed = |source| Error::File {
            path: path.clone(),
            source,
        };
        let taken = || Error::Busy {
            path: database.to_owned(),
            why: "another rekey of it is under way".to_owned(),
        };
        let like = database.metadata().map_err(failed)?;
        let mut options = File::options();
        options.read(true).write(true).create_new(true).mode(0o600);
        for _ in 0..8 {
            match options.open(&path) {
                Ok(file) => {
                    file.try_lock().map_err(|_| taken())?;
                    open_to_the_same(&file, &like).map_err(failed)?;
                    return Ok(Aside {
                        path,
                        like,
                        _lock: file,
                    });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    let left = path.symlink_metadata().map_err(failed)?;
                    if !left.is_file() {
                        return Err(failed(ErrorKind::AlreadyExists.into()));
                    }
                    let left = File::open(&path).map_err(failed)?;
                    left.try_lock().map_err(|_| taken())?;
                    remove(&path);
                }
                Err(error) => return Err(failed(error)),
            }
        }
        Err(taken())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the old content's journal is made.
    pub(super) fn companion(&self) -> PathBuf {
        beside(&self.path, OLD)
    }

    /// Makes the empty file for the old content's journal. Whoever may open the database may open it.
    pub(super) fn create_companion(&self) -> Result<File, Error> {
        let path = self.companion();
        let mut options = File::options();
        options.write(true).create_new(true).mode(0o600);
        let file = options.open(&path).and_then(|file| {
            open_to_the_same(&file, &self.like)?;
            Ok(file)
        });
        file.map_err(|source| Error::File { path, source })
    }
}

/// Gives a file the mode of the database and, for root, its owner.
fn open_to_the_same(file: &File, like: &Metadata) -> std::io::Result<()> {
    if like.uid() != file.metadata()?.uid() {
        // Only root can; another user's copy stays readable to that user alone.
        _ = std::os::unix::fs::fchown(file, Some(like.uid()), Some(like.gid()));
    }
    _ = file.set_permissions(Permissions::from_mode(like.mode() & 0o777));
    Ok(())
}

impl Drop for Aside {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

fn remove(path: &Path) {
    for suffix in COMPANIONS {
        _ = std::fs::remove_file(beside(path, suffix));
    }
    _ = std::fs::remove_file(path);
}
