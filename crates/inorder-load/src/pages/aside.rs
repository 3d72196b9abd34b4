//! The file beside a database that is built before it takes its place.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::Error;

/// A file beside a database, with a name of its own, that one process at a time can have. It is removed when
/// this is dropped; what a killed process left, the next one takes over and empties.
#[derive(Debug)]
pub(super) struct Aside {
    path: PathBuf,
    file: File,
    is_in_place: bool,
}

/// What SQLite puts beside a database.
const COMPANIONS: [&str; 2] = ["-journal", "-wal"];

impl Aside {
    /// An empty file beside this database.
    ///
    /// # Errors
    /// Where another process has it, or it can't be made.
    pub(super) fn create(database: &Path) -> Result<Self, Error> {
        let path = with_suffix(database, ".inorder-load");
        let failed = |source| Error::Work {
            path: path.clone(),
            source,
        };
        let file = loop {
            let file = open(&path).map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(taken(database)),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            // Whoever had it may have put it into its place between the two.
            if is_named(&file, &path).map_err(failed)? {
                break file;
            }
        };
        let aside = Aside {
            path: path.clone(),
            file,
            is_in_place: false,
        };
        aside.remove_companions();
        aside.file.set_len(0).map_err(failed)?;
        Ok(aside)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The file to write to.
    pub(super) fn writer(&self) -> Result<File, Error> {
        self.file.try_clone().map_err(|error| self.failed(error))
    }

    /// The folder it is in.
    pub(super) fn folder(&self) -> &Path {
        folder(&self.path)
    }

    /// An error of this file.
    pub(super) fn failed(&self, source: io::Error) -> Error {
        Error::Work {
            path: self.path.clone(),
            source,
        }
    }

    /// Makes the file durable and then the database, which isn't there or is empty.
    ///
    /// # Errors
    /// Where it is there by now, or the system can't.
    pub(super) fn put_in_place(mut self, database: &Path) -> Result<(), Error> {
        self.file.sync_all().map_err(|error| self.failed(error))?;
        refuse_stale(database)?;
        let replaced = match database.metadata() {
            // An empty file is an empty database.
            Ok(metadata) if metadata.len() == 0 => std::fs::rename(&self.path, database),
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => rename_to_new(&self.path, database),
        };
        replaced.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::Refused {
                what: format!(
                    "{}: somebody made it while rows were read; run it again",
                    database.display()
                ),
            },
            _ => self.failed(error),
        })?;
        self.is_in_place = true;
        let folder = File::open(self.folder()).and_then(|folder| folder.sync_all());
        folder.map_err(|error| self.failed(error))
    }

    fn remove_companions(&self) {
        for suffix in COMPANIONS {
            _ = std::fs::remove_file(with_suffix(&self.path, suffix));
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if !self.is_in_place {
            self.remove_companions();
            _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Refuses a database that isn't there, but what SQLite put beside it is: it would be played into a new one.
///
/// # Errors
/// Where there is such a file.
pub(super) fn refuse_stale(database: &Path) -> Result<(), Error> {
    let found = COMPANIONS.map(|suffix| with_suffix(database, suffix));
    match found.into_iter().find(|path| path.exists()) {
        None => Ok(()),
        Some(path) => Err(Error::Refused {
            what: format!(
                "{} is there without its database, and SQLite would play it into the new one; remove it, or \
                 move its database back",
                path.display()
            ),
        }),
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    options.mode(0o644).open(path)
}

/// Whether a file still has this name.
fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    let own = file.metadata()?;
    match path.metadata() {
        Ok(named) => Ok((own.dev(), own.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn taken(database: &Path) -> Error {
    Error::Refused {
        what: format!(
            "another load into {} is under way; wait for it",
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

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
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
        for before in [None, Some(b"")] {
            _ = std::fs::remove_file(&database);
            before.map(|bytes| std::fs::write(&database, bytes));
            let aside = Aside::create(&database).expect("aside");
            aside
                .writer()
                .expect("file")
                .write_all(b"new")
                .expect("written");
            aside.put_in_place(&database).expect("in place");
            assert_eq!(std::fs::read(&database).expect("read"), b"new");
            assert_eq!(names(folder.path()), ["a.db"]);
        }
        let aside = Aside::create(&database).expect("aside");
        let refused = aside.put_in_place(&database).expect_err("it is there");
        assert!(refused.to_string().contains("run it again"), "{refused}");
        assert_eq!(std::fs::read(&database).expect("read"), b"new");
    }

    #[test]
    fn what_a_killed_load_left_is_emptied() {
        let folder = tempfile::tempdir().expect("folder");
        let database = folder.path().join("a.db");
        for suffix in ["", "-journal", "-wal"] {
            let left = with_suffix(&database, &format!(".inorder-load{suffix}"));
            std::fs::write(left, b"half").expect("written");
        }
        let aside = Aside::create(&database).expect("aside");
        assert_eq!(aside.path().metadata().expect("metadata").len(), 0);
        assert_eq!(names(folder.path()), ["a.db.inorder-load"]);
    }

    #[test]
    fn one_at_a_time() {
        let folder = tempfile::tempdir().expect("folder");
        let database = folder.path().join("a.db");
        let first = Aside::create(&database).expect("aside");
        let second = Aside::create(&database).expect_err("it is taken");
        assert!(second.to_string().contains("under way"), "{second}");
        drop(first);
        Aside::create(&database).expect("it is free");
    }

    #[test]
    fn a_stale_journal_is_not_played_into_a_new_database() {
        let folder = tempfile::tempdir().expect("folder");
        let database = folder.path().join("a.db");
        refuse_stale(&database).expect("nothing there");
        for suffix in COMPANIONS {
            let stale = with_suffix(&database, suffix);
            std::fs::write(&stale, b"x").expect("written");
            let refused = refuse_stale(&database).expect_err("stale");
            assert!(refused.to_string().contains(suffix), "{refused}");
            std::fs::remove_file(&stale).expect("removed");
        }
    }
}
