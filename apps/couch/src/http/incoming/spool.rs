//! Bytes that wait: in memory if they are few, else in a file.

use crate::http::blocking::blocking;
use crate::http::body::Held;
use crate::http::{HttpError, HttpResult, reply};
use crate::store::Database;
use axum::body::{Body, Bytes};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The bytes that are kept in memory.
const MEMORY_BYTES_MAX: usize = 1 << 20;

/// The bytes that are read at a time.
const PIECE_BYTES: usize = 256 << 10;

/// Bytes that are written once and read once.
#[derive(Debug)]
pub struct Spool {
    db: Database,
    file: Option<File>,
    buffer: Vec<u8>,
    held: Held,
}

impl Spool {
    /// Creates an empty one. Its file will be beside that of the database.
    pub fn new(db: &Database, memory: &Arc<Semaphore>) -> Self {
        Spool {
            db: db.clone(),
            file: None,
            buffer: Vec::new(),
            held: Held::new(memory),
        }
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// If all bodies together take too much memory.
    pub fn write(&mut self, bytes: &[u8]) -> HttpResult<()> {
        self.held.set(self.buffer.len() + bytes.len())?;
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Writes the bytes to the file if they are many.
    ///
    /// # Errors
    /// If the disk is full.
    pub async fn settle(&mut self) -> HttpResult<()> {
        if self.buffer.len() < MEMORY_BYTES_MAX {
            return Ok(());
        }
        let (buffer, file) = (std::mem::take(&mut self.buffer), self.file.take());
        let db = self.db.clone();
        let write = move || -> HttpResult<(File, Vec<u8>)> {
            let mut file = match file {
                Some(file) => file,
                None => db.temporary_file()?,
            };
            file.write_all(&buffer).map_err(failed)?;
            let mut buffer = buffer;
            buffer.clear();
            buffer.shrink_to(MEMORY_BYTES_MAX + PIECE_BYTES);
            Ok((file, buffer))
        };
        let (file, buffer) = blocking(write).await??;
        (self.file, self.buffer) = (Some(file), buffer);
        self.held.set(0)
    }

    /// Returns the bytes, to be read from the start.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(mut self) -> HttpResult<Spooled> {
        if let Some(file) = &mut self.file {
            file.rewind().map_err(failed)?;
        }
        let rest = io::Cursor::new(self.buffer);
        Ok(Spooled {
            file: self.file,
            rest,
            _held: self.held,
        })
    }
}

/// The unread bytes of a [`Spool`].
#[derive(Debug)]
pub struct Spooled {
    file: Option<File>,
    rest: io::Cursor<Vec<u8>>,
    _held: Held,
}

impl Read for Spooled {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(file) = &mut self.file {
            match file.read(buffer)? {
                0 if !buffer.is_empty() => self.file = None,
                bytes => return Ok(bytes),
            }
        }
        self.rest.read(buffer)
    }
}

impl Spooled {
    /// Reads the next bytes; none at the end.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn next_piece(mut self) -> HttpResult<(Self, Bytes)> {
        let read = move || -> io::Result<(Self, Bytes)> {
            let mut piece = Vec::with_capacity(PIECE_BYTES);
            let mut next = (&mut self).take(PIECE_BYTES as u64);
            next.read_to_end(&mut piece)?;
            Ok((self, piece.into()))
        };
        blocking(read).await?.map_err(failed)
    }

    /// Returns the bytes as the body of an answer.
    pub fn into_body(self) -> Body {
        if self.file.is_none() {
            return self.rest.into_inner().into();
        }
        let pieces = futures_util::stream::try_unfold(self, |spooled: Self| async move {
            let (spooled, piece) = spooled.next_piece().await?;
            Ok((!piece.is_empty()).then_some((piece, spooled)))
        });
        reply::body(pieces)
    }
}

/// The error of a file of a spool.
pub(super) fn failed(error: io::Error) -> HttpError {
    match error.kind() {
        io::ErrorKind::StorageFull => crate::store::Error::Full.into(),
        _ => HttpError::Internal(format!("a temporary file: {error}")),
    }
}
