//! A private copy of a database whose own files are never written.
//!
//! SQLite's backup interface copies the pages through a connection that is read-only down to the WAL's index
//! (`readonly_shm`, <https://www.sqlite.org/wal.html#read_only_databases>). Where SQLite would have to write for
//! reading (a WAL without its index, a hot journal), the files are copied as they are and SQLite recovers the copy.

mod folder;
mod header;
mod source;

pub use folder::private_folder;
pub(crate) use inorder_load::files::beside;
pub(crate) use source::Source;

use crate::Error;
use header::Header;
use inorder_load::files::free_bytes;
use rusqlite::{
    Connection, ErrorCode, OpenFlags,
    backup::{Backup, StepResult},
    ffi,
};
use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

/// How long a lock of another process is waited for.
const LOCK_WAIT: Duration = Duration::from_secs(10);
/// How often files are copied again that changed meanwhile.
const COPIES_MAX: usize = 3;

/// A copy of a database, page by page.
#[derive(Debug)]
pub struct Snapshot {
    /// The copy.
    pub path: PathBuf,
    /// Bytes of the database's main file.
    pub file_bytes: u64,
    /// Bytes of its write-ahead log, 0 if it has none.
    pub wal_bytes: u64,
    /// Whether the database is in WAL mode.
    pub is_wal: bool,
    /// Whether the file ends before its last page; in the copy there are zeros.
    pub is_cut_off: bool,
    /// Seconds the copy was made in, during which a lock for reading was held.
    pub locked_s: f64,
    /// What was particular about the copy, in sentences.
    pub notes: Vec<String>,
}

impl Snapshot {
    /// Copies the database `path` into `folder`, which must have room for `sizes` times its size.
    ///
    /// # Errors
    /// [`Error::NotADatabase`], [`Error::NewerFormat`], [`Error::Busy`], [`Error::NoSpace`], and those of reading.
    pub fn take(path: &Path, folder: &Path, sizes: u64) -> Result<Self, Error> {
        let header = header::read(path)?;
        let wal = beside(path, "-wal");
        let file_bytes = length(path);
        let wal_bytes = length(&wal);
        check_space(
            folder,
            sizes * (file_bytes + wal_bytes),
            "the copies",
            "set TMPDIR to a folder on a larger file system, or take --sample for an estimate",
        )?;
        let mut snapshot = Snapshot {
            path: folder.join("copy.db"),
            file_bytes,
            wal_bytes,
            is_wal: header.is_wal,
            is_cut_off: header.bytes > file_bytes && !beside(path, header.log()).exists(),
            locked_s: 0.0,
            notes: Vec::new(),
        };
        if snapshot.is_cut_off {
            snapshot.notes.push(format!(
                "The file is cut off: its header tells of {} bytes, and it has {file_bytes}.",
                header.bytes
            ));
        }
        let began = Instant::now();
        // SQLite would make the log of a database in WAL mode that has none, even to read it.
        let is_closed = header.is_wal && !(wal.exists() && beside(path, "-shm").exists());
        let copied = match is_closed || snapshot.is_cut_off {
            true => None,
            false => Some(backup(path, &snapshot.path)),
        };
        match copied {
            Some(Ok(())) => {}
            None => snapshot
                .notes
                .push(copy_files(path, &snapshot.path, header)?),
            Some(Err(error)) if needs_writing(&error) => {
                snapshot
                    .notes
                    .push(copy_files(path, &snapshot.path, header)?);
            }
            Some(Err(error)) => return Err(named(error, path)),
        }
        snapshot.locked_s = began.elapsed().as_secs_f64();
        Ok(snapshot)
    }
}

/// Refuses a file that is no SQLite database, or of a format that is not known.
///
/// # Errors
/// [`Error::NotADatabase`], [`Error::NewerFormat`], and those of reading.
pub(crate) fn check_header(path: &Path) -> Result<(), Error> {
    header::read(path).map(drop)
}

/// Copies all pages in one read transaction.
fn backup(path: &Path, copy: &Path) -> rusqlite::Result<()> {
    let source = open_read_only(path)?;
    let mut target = inorder_sqlite::open(copy, OpenFlags::default())?;
    let backup = Backup::new(&source, &mut target)?;
    let began = Instant::now();
    loop {
        match backup.step(-1)? {
            StepResult::Done => return Ok(()),
            _ if began.elapsed() > LOCK_WAIT => {
                return Err(rusqlite::Error::SqliteFailure(
                    ffi::Error::new(ffi::SQLITE_BUSY),
                    None,
                ));
            }
            _ => thread::sleep(Duration::from_millis(50)),
        }
    }
}

/// Opens a database so that neither it nor its WAL's index is written.
fn open_read_only(path: &Path) -> rusqlite::Result<Connection> {
    open_uri(&read_only_uri(path, false))
}

/// The URI by which a database is only read; without locks if nobody has it open.
fn read_only_uri(path: &Path, is_closed: bool) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.into());
    let end = if is_closed {
        "immutable=1"
    } else {
        "readonly_shm=1"
    };
    format!("file://{}?mode=ro&{end}", in_uri(&path))
}

fn open_uri(uri: &str) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let source = inorder_sqlite::open(uri, flags)?;
    source.busy_timeout(LOCK_WAIT)?;
    source.pragma_update(None, "query_only", true)?;
    source
        .query_row("SELECT count(*) FROM sqlite_schema", (), |row| {
            row.get::<_, u64>(0)
        })
        .map(|_| source)
        .or_else(|error| match error.sqlite_error_code() {
            // A schema that can't be parsed, or a page that is wrong: the pages can still be copied.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::Unknown) => {
                inorder_sqlite::open(uri, flags)
            }
            _ => Err(error),
        })
}

/// A path within a URI.
fn in_uri(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let mut uri = String::new();
    for &byte in path.as_os_str().as_bytes() {
        if plain(byte) {
            uri.push(char::from(byte));
        } else {
            uri += &format!("%{byte:02X}");
        }
    }
    uri
}

/// Tells whether SQLite would have to write in order to read.
fn needs_writing(error: &rusqlite::Error) -> bool {
    error
        .sqlite_error()
        .is_some_and(|error| matches!(error.code, ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

/// Copies the files as they are, with a WAL or journal, which SQLite then applies to the copy.
fn copy_files(path: &Path, copy: &Path, header: Header) -> Result<String, Error> {
    let log = beside(path, header.log());
    for _ in 0..COPIES_MAX {
        let before = (stamp(path), stamp(&log));
        fs::copy(path, copy).map_err(Error::io(path))?;
        if log.exists() {
            fs::copy(&log, beside(copy, header.log())).map_err(Error::io(&log))?;
        }
        if (stamp(path), stamp(&log)) == before {
            // Zeros are no page: SQLite's checks name those that are missing, and reads the others.
            if header.bytes > length(copy) && !log.exists() {
                let file = fs::File::options().write(true).open(copy);
                let longer = file.and_then(|file| file.set_len(header.bytes));
                longer.map_err(Error::io(copy))?;
            }
            // The first read recovers the copy; closing it ends the log.
            let recovered = inorder_sqlite::open(copy, OpenFlags::default())?;
            recovered.query_row("SELECT count(*) FROM sqlite_schema", (), |_| Ok(()))?;
            return Ok(match (header.is_wal, log.exists()) {
                (true, true) => {
                    "No process has it open; its write-ahead log was applied to the copy."
                }
                (true, false) => "No process has it open: it has no write-ahead log.",
                (false, true) => {
                    "A transaction was interrupted; its journal was rolled back in the copy."
                }
                (false, false) => "The file was copied as it is.",
            }
            .into());
        }
    }
    Err(locked(path))
}

/// Length and time of a file, which change with its content.
fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let metadata = path.metadata().ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

fn length(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

fn locked(path: &Path) -> Error {
    Error::Busy {
        path: path.into(),
        why: "another process holds a lock on it".into(),
    }
}

/// Fails if fewer than `needed_bytes` are free in a folder.
///
/// # Errors
/// [`Error::NoSpace`].
pub(crate) fn check_space(
    folder: &Path,
    needed_bytes: u64,
    what: &'static str,
    remedy: &'static str,
) -> Result<(), Error> {
    match free_bytes(folder) {
        Some(free_bytes) if free_bytes < needed_bytes => Err(Error::NoSpace {
            what,
            needed_bytes,
            free_bytes,
            folder: folder.into(),
            remedy,
        }),
        // Where the system does not tell, writing will.
        _ => Ok(()),
    }
}

/// The error of a connection, in this crate's words.
fn named(error: rusqlite::Error, path: &Path) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            locked(path)
        }
        Some(ErrorCode::DatabaseCorrupt) => Error::Refused {
            change: format!("reading {}", path.display()),
            why: error.to_string(),
        },
        Some(ErrorCode::NotADatabase) => Error::NotADatabase {
            path: path.into(),
            found: "SQLite can't read its header. If it is encrypted, decrypt it with the program that made it".into(),
        },
        _ => Error::Sqlite(error),
    }
}
