//! A copy of a database that is in use.

use crate::private;
use rusqlite::Connection;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The file exists.
    #[error("{}: the file exists; name a new one", .0.display())]
    Exists(PathBuf),
    /// The operating system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// SQLite could not read the database or write the copy.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
}

/// Writes one snapshot of a database into a new file of mode 600. The copy is complete and durable once it has its name.
///
/// The connection must not have an open transaction. The copy is made with
/// [`VACUUM INTO`](https://www.sqlite.org/lang_vacuum.html) in `PATH.part`, which is removed when it fails.
///
/// # Errors
/// [`BackupError::Exists`] when the file exists; it is never replaced.
pub fn copy_database(connection: &Connection, path: &Path) -> Result<(), BackupError> {
    if path.exists() {
        return Err(BackupError::Exists(path.to_owned()));
    }
    let part = private::beside(path, ".part");
    let copied = vacuum_into(connection, &part).and_then(|()| publish(&part, path));
    if copied.is_err() {
        let _ = fs::remove_file(&part);
    }
    copied
}

fn vacuum_into(connection: &Connection, part: &Path) -> Result<(), BackupError> {
    // A file of an interrupted backup.
    match fs::remove_file(part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(part, error)),
        _ => {}
    }
    // VACUUM INTO accepts an empty file. A file that SQLite creates would be readable by everybody.
    private::create_new(part).map_err(|error| failed(part, error))?;
    let name = part.to_string_lossy().into_owned();
    connection.execute("VACUUM INTO ?1", [name])?;
    Ok(())
}

/// Renames a complete file durably.
fn publish(part: &Path, path: &Path) -> Result<(), BackupError> {
    let synced = File::open(part).and_then(|file| file.sync_all());
    synced.map_err(|error| failed(part, error))?;
    // Unlike a renaming, a link does not replace a file.
    fs::hard_link(part, path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => BackupError::Exists(path.to_owned()),
        _ => failed(path, error),
    })?;
    fs::remove_file(part).map_err(|error| failed(part, error))?;
    private::sync_folder(path).map_err(|error| failed(path, error))
}

fn failed(path: &Path, error: io::Error) -> BackupError {
    BackupError::Io {
        path: path.to_owned(),
        error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_copy_is_whole_private_and_replaces_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let db = Connection::open(folder.path().join("db")).unwrap();
        db.execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
            .unwrap();
        let copy = folder.path().join("copy");
        // The remains of an interrupted backup.
        fs::write(folder.path().join("copy.part"), "rubbish").unwrap();
        copy_database(&db, &copy).unwrap();
        let count =
            Connection::open(&copy)
                .unwrap()
                .query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0));
        assert_eq!(count.unwrap(), 1);
        let mode = fs::metadata(&copy).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let again = copy_database(&db, &copy).unwrap_err();
        assert!(matches!(again, BackupError::Exists(_)), "{again}");
        assert!(!folder.path().join("copy.part").exists());
    }
}
