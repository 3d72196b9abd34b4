//! The temporary file beside a database in which the pages are built.

use std::fs::{File, Metadata, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};

use crate::Error;
use crate::files::{beside, is_named};

/// A temporary file beside a database, locked by one process at a time. It is removed when this is dropped; the next load
/// removes what a killed process left.
#[derive(Debug)]
pub(super) struct Aside {
    path: PathBuf,
    file: File,
    is_in_place: bool,
}

/// The suffixes of the files that SQLite puts beside a database.
const COMPANIONS: [&str; 2] = ["-journal", "-wal"];

impl Aside {
    /// Creates an empty file beside a database, with the mode and owner that SQLite gives its journal. If there is no
    /// database yet, the mode and owner are those of a new one.
    ///
    /// # Errors
    /// If another process has it, or it can't be created.
    pub(super) fn create(database: &Path) -> Result<Self, Error> {
        let path = beside(database, ".inorder-load");
        let failed = |source| Error::Work {
            path: path.clone(),
            source,
        };
        let like = database.metadata().ok();
        let file = loop {
            // Never an existing file: it may be a link to another file, or have another owner.
            let file = match create_new(&path, like.as_ref()) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    match remove_left(&path) {
                        Ok(()) => continue,
                        Err(TryLockError::WouldBlock) => return Err(taken(database)),
                        Err(TryLockError::Error(error)) => return Err(failed(error)),
                    }
                }
                Err(error) => return Err(failed(error)),
            };
            match file.try_lock() {
                // Somebody may have taken it for what a killed load left between the two.
                Ok(()) if is_named(&file, &path).map_err(failed)? => break file,
                Ok(()) | Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        };
        if let Some(like) = &like {
            take_after(&file, like);
        }
        let aside = Aside {
            path: path.clone(),
            file,
            is_in_place: false,
        };
        remove_companions(&aside.path);
        Ok(aside)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The file to write to.
    pub(super) fn writer(&self) -> Result<File, Error> {
        self.file.try_clone().map_err(|error| self.failed(error))
    }

    /// An error of this file.
    pub(super) fn failed(&self, source: io::Error) -> Error {
        Error::Work {
            path: self.path.clone(),
            source,
        }
    }

    /// Syncs the file and renames it to the database, which doesn't exist yet.
    ///
    /// # Errors
    /// If the database exists by now, or the system fails.
    pub(super) fn put_in_place(mut self, database: &Path) -> Result<(), Error> {
        self.file.sync_all().map_err(|error| self.failed(error))?;
        refuse_stale(database)?;
        let replaced = match database.symlink_metadata() {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => rename_to_new(&self.path, database),
        };
        replaced.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => made_meanwhile(database),
            _ => self.failed(error),
        })?;
        self.is_in_place = true;
        let folder = File::open(folder(&self.path)).and_then(|folder| folder.sync_all());
        folder.map_err(|error| self.failed(error))
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if !self.is_in_place {
            remove_companions(&self.path);
            _ = std::fs::remove_file(&self.path);
        }
    }
}

fn remove_companions(path: &Path) {
    for suffix in COMPANIONS {
        _ = std::fs::remove_file(beside(path, suffix));
    }
}

/// Refuses a missing database that has a journal or WAL: SQLite would play it into the new database.
///
/// # Errors
/// [`Error::Refused`] if there is such a file.
pub(super) fn refuse_stale(database: &Path) -> Result<(), Error> {
    let found = COMPANIONS.map(|suffix| beside(database, suffix));
    match found.into_iter().find(|path| path.exists()) {
        None => Ok(()),
        Some(path) => Err(Error::Refused {
            what: format!(
                "{} exists without its database, and SQLite would apply it to the new one; remove it, or \
                 move its database back",
                path.display()
            ),
        }),
    }
}

/// The mode that SQLite gives a new database, before the umask.
const NEW_MODE: u32 = 0o644;

fn create_new(path: &Path, like: Option<&Metadata>) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    // Its own user's alone until it has the mode of another file.
    options.mode(if like.is_some() { 0o600 } else { NEW_MODE });
    options.open(path)
}

/// Creates an empty database file.
///
/// # Errors
/// If it exists, or can't be created.
pub(crate) fn create_database(path: &Path) -> Result<(), Error> {
    let made = create_new(path, None);
    made.map(drop).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => made_meanwhile(path),
        _ => Error::Work {
            path: path.to_owned(),
            source: error,
        },
    })
}

/// Copies the mode of a file to another and, if this process is privileged, its owner. Source: <https://www.sqlite.org/src/file?name=src/os_unix.c>, `findCreateFileMode`.
fn take_after(file: &File, like: &Metadata) {
    if rustix::process::geteuid().is_root() {
        _ = std::os::unix::fs::fchown(file, Some(like.uid()), Some(like.gid()));
    }
    _ = file.set_permissions(Permissions::from_mode(like.mode() & 0o777));
}

/// Removes the file that a killed load left.
///
/// # Errors
/// If another process has locked it, or it can't be opened or removed.
fn remove_left(path: &Path) -> Result<(), TryLockError> {
    let mut options = File::options();
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options.read(true).custom_flags(flags.bits() as i32);
    let file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file.map_err(TryLockError::Error)?,
    };
    file.try_lock()?;
    if is_named(&file, path).map_err(TryLockError::Error)? {
        std::fs::remove_file(path).map_err(TryLockError::Error)?;
    }
    Ok(())
}

/// Removes what a killed load left beside a database, if it did and no other load is running.
pub(super) fn remove_leftover(database: &Path) {
    let path = beside(database, ".inorder-load");
    if path.symlink_metadata().is_ok() && remove_left(&path).is_ok() {
        remove_companions(&path);
    }
}

/// The error that the database was created while rows were read.
fn made_meanwhile(database: &Path) -> Error {
    Error::Refused {
        what: format!(
            "{}: another process created it while the loader read the rows; run the load again",
            database.display()
        ),
    }
}

fn taken(database: &Path) -> Error {
    Error::Refused {
        what: format!(
            "another load into {} is running; wait until it ends",
            database.display()
        ),
    }
}

fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Some file systems know no flags.
        Err(rustix::io::Errno::INVAL) => std::fs::rename(from, to),
        result => Ok(result?),
    }
}

pub(super) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("folder");
        let name = |entry: io::Result<std::fs::DirEntry>| entry.expect("entry").file_name();
        let names = entries.map(|entry| name(entry).to_string_lossy().into_owned());
        names.collect()
    }

    #[test]
    fn it_takes_the_place_or_leaves_nothing() {
        let folder = tempfile::tempdir().expect("folder");
        let database = folder.path().join("a.db");
        drop(Aside::create(&database).expect("aside"));
        assert!(names(folder.path()).is_empty());
        let aside = Aside::create(&database).expect("aside");
        let mut file = aside.writer().expect("file");
        file.write_all(b"new").expect("written");
        aside.put_in_place(&database).expect("in place");
        assert_eq!(std::fs::read(&database).expect("read"), b"new");
        assert_eq!(names(folder.path()), ["a.db"]);
        let aside = Aside::create(&database).expect("aside");
        let refused = aside.put_in_place(&database).expect_err("it is there");
        assert!(
            refused.to_string().contains("run the load again"),
            "{refused}"
        );
        assert_eq!(std::fs::read(&database).expect("read"), b"new");
    }

    #[test]
    fn what_a_killed_load_left_is_removed() {
        let folder = tempfile::tempdir().expect("folder");
        let database = folder.path().join("a.db");
        for suffix in ["", "-journal", "-wal"] {
            let left = beside(&database, &format!(".inorder-load{suffix}"));
            std::fs::write(left, b"half").expect("written");
        }
        let aside = Aside::create(&database).expect("aside");
        assert_eq!(aside.path().metadata().expect("metadata").len(), 0);
        assert_eq!(names(folder.path()), ["a.db.inorder-load"]);
    }

    #[test]
    fn what_its_name_is_linked_to_is_left_alone() {
        let folder = tempfile::tempdir().expect("folder");
        let (database, other) = (folder.path().join("a.db"), folder.path().join("other"));
        let name = beside(&database, ".inorder-load");
        std::fs::write(&other, b"kept").expect("written");
        std::fs::hard_link(&other, &name).expect("linked");
        drop(Aside::create(&database).expect("aside"));
        assert_eq!(std::fs::read(&other).expect("read"), b"kept");
        std::os::unix::fs::symlink(&other, &name).expect("linked");
        Aside::create(&database).expect_err("a link");
        assert_eq!(std::fs::read(&other).expect("read"), b"kept");
    }

    /// The mode is that of SQLite's journal of the same database.
    #[test]
    fn it_has_the_mode_and_owner_of_a_journal() {
        let folder = tempfile::tempdir().expect("folder");
        let database = folder.path().join("a.db");
        let connection = rusqlite::Connection::open(&database).expect("a database");
        connection.execute_batch("CREATE TABLE t(a)").expect("made");
        let is_root = rustix::process::geteuid().is_root();
        for mode in [0o600, 0o640, 0o644, 0o660, 0o666, 0o755] {
            if is_root {
                std::os::unix::fs::chown(&database, Some(1234), Some(4321)).expect("another owner");
            }
            std::fs::set_permissions(&database, Permissions::from_mode(mode)).expect("a mode");
            connection
                .execute_batch("BEGIN; INSERT INTO t VALUES (1)")
                .expect("begun");
            let journal = beside(&database, "-journal").metadata();
            let journal = journal.expect("a journal");
            let aside = Aside::create(&database).expect("aside");
            let own = aside.path().metadata().expect("metadata");
            assert_eq!(own.mode(), journal.mode(), "{mode:o}");
            assert_eq!((own.uid(), own.gid()), (journal.uid(), journal.gid()));
            assert_eq!(own.mode() & 0o777, mode);
            connection.execute_batch("ROLLBACK").expect("ended");
        }
    }

    #[test]
    fn one_at_a_time() {
        let folder = tempfile::tempdir().expect("folder");
        let database = folder.path().join("a.db");
        let first = Aside::create(&database).expect("aside");
        let second = Aside::create(&database).expect_err("it is taken");
        assert!(second.to_string().contains("is running"), "{second}");
        drop(first);
        Aside::create(&database).expect("it is free");
    }

    #[test]
    fn a_stale_journal_is_not_played_into_a_new_database() {
        let folder = tempfile::tempdir().expect("folder");
        let database = folder.path().join("a.db");
        refuse_stale(&database).expect("nothing there");
        for suffix in COMPANIONS {
            let stale = beside(&database, suffix);
            std::fs::write(&stale, b"x").expect("written");
            let refused = refuse_stale(&database).expect_err("stale");
            assert!(refused.to_string().contains(suffix), "{refused}");
            std::fs::remove_file(&stale).expect("removed");
        }
    }
}
