//! A database that is read where it is, without a copy. Nothing of it is written.

use super::{beside, header, length, named, needs_writing, open_uri, read_only_uri, stamp};
use crate::Error;
use rusqlite::Connection;
use std::{path::Path, time::SystemTime};

/// How a database is read.
#[derive(Debug)]
pub(crate) struct Source {
    /// What ATTACH takes.
    pub(crate) uri: String,
    /// Bytes of the main file.
    pub(crate) file_bytes: u64,
    /// Bytes of its write-ahead log.
    pub(crate) wal_bytes: u64,
    /// Whether it is in WAL mode.
    pub(crate) is_wal: bool,
    /// Bytes per page.
    pub(crate) page_bytes: u32,
    /// The text encoding, as PRAGMA encoding has it.
    pub(crate) encoding: &'static str,
    /// `PRAGMA application_id`.
    pub(crate) application_id: i32,
    /// The file as it was, if it is read without locks.
    unlocked: Option<(u64, SystemTime)>,
}

impl Source {
    /// Opens a database for reading in place.
    ///
    /// # Errors
    /// [`Error::NotADatabase`], [`Error::NewerFormat`], [`Error::Busy`]; [`Error::Refused`] where SQLite would have to write.
    pub(crate) fn open(path: &Path) -> Result<(Source, Connection), Error> {
        let header = header::read(path)?;
        let wal = beside(path, "-wal");
        let refused = |why: &str| Error::Refused {
            change: format!("a sample of {}", path.display()),
            why: why.to_owned(),
        };
        let is_closed = header.is_wal && !(wal.exists() && beside(path, "-shm").exists());
        if is_closed && length(&wal) > 0 {
            return Err(refused(
                "it has a write-ahead log and no process has it open, so SQLite would have to write in order to read it; \
                 open and close it with its application first",
            ));
        }
        // Without a log, SQLite would make one in order to read a database in WAL mode. Nobody has it open.
        let uri = read_only_uri(path, is_closed);
        let connection = open_uri(&uri).map_err(|error| match needs_writing(&error) {
            true => refused(
                "a transaction was interrupted and SQLite would have to roll it back in order to read it; \
                 open and close it with its application first",
            ),
            false => named(error, path),
        })?;
        let source = Source {
            uri,
            file_bytes: length(path),
            wal_bytes: length(&wal),
            is_wal: header.is_wal,
            page_bytes: header.page_bytes,
            encoding: header.encoding,
            application_id: header.application_id,
            unlocked: stamp(path).filter(|_| is_closed),
        };
        Ok((source, connection))
    }

    /// Checks that nobody wrote to a file that was read without locks.
    ///
    /// # Errors
    /// [`Error::Busy`].
    pub(crate) fn check_unchanged(&self, path: &Path) -> Result<(), Error> {
        let is_changed = self.unlocked.is_some() && self.unlocked != stamp(path);
        match is_changed || (self.unlocked.is_some() && length(&beside(path, "-wal")) > 0) {
            true => Err(Error::Busy {
                path: path.into(),
                why: "another process wrote to it meanwhile".into(),
            }),
            false => Ok(()),
        }
    }
}
