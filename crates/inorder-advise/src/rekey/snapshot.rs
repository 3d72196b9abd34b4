//! A database that is read while others use it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use inorder_btree::{Reader, Sizes};
use inorder_load::files::{Access, open_for_good};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::Error;
use crate::snapshot::beside;

/// What a snapshot keeps others from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock {
    /// From writing back what would change the file. They may write into a WAL.
    Read,
    /// From writing, and from building something behind the last page, as a load and another rekey do.
    Write,
}

/// A transaction of a database whose file holds all of it: no WAL is to be read with it.
pub(super) struct Snapshot {
    pub(super) connection: Connection,
    pub(super) is_wal: bool,
    path: PathBuf,
    version: i64,
    /// The file's pages, readable as long as the transaction lasts.
    pub(super) pages: Reader,
    /// What the file's header says of its pages, where it does.
    pub(super) sizes: Option<Sizes>,
    pub(super) file: Arc<File>,
}

/// Where a file's header counts changes, unless the database is in WAL mode.
const CHANGE_COUNTER: u64 = 24;

/// Bytes of a file's header.
const HEADER_BYTES: usize = 100;

/// How often a snapshot is tried that a writer of a WAL interferes with.
pub(super) const TRIES: u32 = 5;

impl Snapshot {
    /// Begins a transaction, unless somebody writes. Cuts off what a killed rekey or load has put behind the last page.
    ///
    /// # Errors
    /// [`Error::Busy`] where another process writes, or keeps an old snapshot of a WAL; SQLite's errors.
    pub(super) fn begin(path: &Path, wait: Duration, lock: Lock) -> Result<Self, Error> {
        let failed = |source| Error::File {
            path: path.to_owned(),
            source,
        };
        let file = open_for_good(path, Access::Cached).map_err(failed)?;
        let connection = open(path, wait)?;
        let busy = |error: rusqlite::Error| busy_or(path, "another process writes to it", error);
        // Also plays a journal back that a killed process left.
        connection
            .execute_batch("BEGIN IMMEDIATE; ROLLBACK")
            .map_err(busy)?;
        let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
        let is_wal = mode == "wal";
        // With nothing in the WAL, a transaction reads the file alone, and no checkpoint can write to it meanwhile
        // (<https://www.sqlite.org/walformat.html#wal_locks>).
        let has_wal = || {
            let wal = beside(path, "-wal").metadata();
            is_wal && wal.map_or(0, |wal| wal.len()) > 0
        };
        for _ in 0..TRIES {
            if is_wal {
                empty_wal(&connection, path)?;
            }
            connection.execute_batch("BEGIN IMMEDIATE").map_err(busy)?;
            if !has_wal() {
                cut(&file).map_err(failed)?;
                if lock == Lock::Read {
                    connection.execute_batch("ROLLBACK; BEGIN")?;
                    let schema = "SELECT count(*) FROM main.sqlite_schema";
                    connection.query_row(schema, [], |_| Ok(()))?;
                }
                if !has_wal() {
                    return Snapshot::of(connection, is_wal, path, file);
                }
            }
            connection.execute_batch("COMMIT")?;
        }
        Err(Error::Busy {
            path: path.to_owned(),
            why: "another process writes to it".to_owned(),
        })
    }

    /// The snapshot of a connection that has begun to read.
    fn of(
        connection: Connection,
        is_wal: bool,
        path: &Path,
        file: Arc<File>,
    ) -> Result<Self, Error> {
        let failed = |source| Error::File {
            path: path.to_owned(),
            source,
        };
        let sizes = sizes(&file).map_err(failed)?;
        let pages = Reader::mapped(Arc::clone(&file));
        let mut snapshot = Snapshot {
            connection,
            is_wal,
            path: path.to_owned(),
            version: 0,
            pages: pages.map_err(|why| Error::Build {
                path: path.to_owned(),
                why: why.to_string(),
            })?,
            sizes,
            file,
        };
        snapshot.version = snapshot.current_version()?;
        Ok(snapshot)
    }

    /// Ends the read transaction.
    pub(super) fn end(&self) -> Result<(), Error> {
        Ok(self.connection.execute_batch("COMMIT")?)
    }

    /// Whether nobody has written since the snapshot. To be asked while a lock keeps writers away.
    pub(super) fn is_current(&self) -> Result<bool, Error> {
        Ok(self.current_version()? == self.version)
    }

    fn current_version(&self) -> Result<i64, Error> {
        if self.is_wal {
            return Ok(self
                .connection
                .query_row("PRAGMA data_version", [], |row| row.get(0))?);
        }
        let mut counter = [0; 4];
        let read = self.file.read_exact_at(&mut counter, CHANGE_COUNTER);
        read.map_err(|error| self.failed(error))?;
        Ok(i64::from(u32::from_be_bytes(counter)))
    }

    fn failed(&self, source: std::io::Error) -> Error {
        Error::File {
            path: self.path.clone(),
            source,
        }
    }
}

/// What the header of a file says of its pages.
fn sizes(file: &File) -> std::io::Result<Option<Sizes>> {
    let mut header = [0; HEADER_BYTES];
    file.read_exact_at(&mut header, 0)?;
    Ok(Sizes::of(&header))
}

/// Cuts off what lies behind the last page. To be called with the lock of a writer: whoever builds something there has it.
fn cut(file: &File) -> std::io::Result<()> {
    let Some(sizes) = sizes(file)? else {
        return Ok(());
    };
    let bytes = u64::from(sizes.pages) * u64::from(sizes.page_bytes);
    match file.metadata()?.len() > bytes {
        true => file.set_len(bytes),
        false => Ok(()),
    }
}

/// Writes the WAL back and empties it.
pub(super) fn empty_wal(connection: &Connection, path: &Path) -> Result<(), Error> {
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    match connection.query_row(checkpoint, [], |row| row.get(0))? {
        false => Ok(()),
        true => Err(Error::Busy {
            path: path.to_owned(),
            why: "another process writes to it, or reads what its WAL has replaced".to_owned(),
        }),
    }
}

/// Opens a database that is there.
pub(super) fn open(path: &Path, wait: Duration) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = inorder_sqlite::open(path, flags)?;
    connection.busy_timeout(wait)?;
    Ok(connection)
}

/// Says that the database is in use where SQLite does.
pub(super) fn busy_or(path: &Path, why: &str, error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Busy {
            path: path.to_owned(),
            why: why.to_owned(),
        },
        _ => Error::Sqlite(error),
    }
}

/// [`Error::Busy`] for an error of SQLite that says so, else the same error.
pub(super) fn busy_or_same(path: &Path, error: Error) -> Error {
    match error {
        Error::Sqlite(error) => busy_or(path, "another process reads or writes it", error),
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::backup::Backup;

    use super::*;

    #[test]
    fn what_another_rekey_builds_is_not_cut_off() {
        for mode in ["DELETE", "WAL"] {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("app.db");
            let made = format!("PRAGMA journal_mode = {mode}; CREATE TABLE t(a)");
            let other = Connection::open(&path).expect("a database");
            other.execute_batch(&made).expect("made");
            let bytes = || path.metadata().expect("a file").len();
            let first = Snapshot::begin(&path, Duration::ZERO, Lock::Write).expect("a snapshot");
            let before = bytes();
            let built = first.file.write_all_at(&[7; 9000], before);
            built.expect("written");
            for lock in [Lock::Read, Lock::Write] {
                let second = Snapshot::begin(&path, Duration::ZERO, lock).map(drop);
                let error = second.expect_err("the first one has the lock");
                assert!(matches!(error, Error::Busy { .. }), "{mode}: {error}");
            }
            assert_eq!(bytes(), before + 9000, "{mode}");
            drop(first);
            Snapshot::begin(&path, Duration::ZERO, Lock::Read).expect("a snapshot");
            assert_eq!(bytes(), before, "{mode}");
        }
    }

    #[test]
    fn a_write_after_the_snapshot_is_seen_and_a_swap_keeps_writers_away() {
        for mode in ["DELETE", "WAL"] {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("app.db");
            let other = Connection::open(&path).expect("a database");
            let made = format!(
                "PRAGMA journal_mode = {mode}; CREATE TABLE t(a); INSERT INTO t VALUES (1)"
            );
            other.execute_batch(&made).expect("made");
            other.busy_timeout(Duration::ZERO).expect("set");
            let insert = "INSERT INTO t VALUES (2)";
            for is_written in [false, true] {
                let snapshot =
                    Snapshot::begin(&path, Duration::ZERO, Lock::Read).expect("a snapshot");
                if mode == "DELETE" {
                    snapshot.end().expect("ended");
                }
                if is_written {
                    other.execute_batch(insert).expect("written");
                }
                if mode == "WAL" {
                    snapshot.end().expect("ended");
                }
                let mut database = open(&path, Duration::ZERO).expect("opened");
                let new = Connection::open_in_memory().expect("a database");
                new.execute_batch("CREATE TABLE new(a)").expect("made");
                let backup = Backup::new(&new, &mut database).expect("a backup");
                backup.step(0).expect("a lock");
                let busy = other
                    .execute_batch(insert)
                    .expect_err("the database is locked");
                assert_eq!(
                    busy.sqlite_error_code(),
                    Some(ErrorCode::DatabaseBusy),
                    "{mode}"
                );
                assert_eq!(snapshot.is_current().expect("read"), !is_written, "{mode}");
                drop(backup);
                other.execute_batch(insert).expect("written");
            }
        }
    }
}
