//! The bytes of attachments: by digest, in chunks.

use super::{Error, Result};
use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a chunk; only the last of a blob has fewer.
pub const CHUNK_BYTES: usize = 64 << 10;

/// Bits of a chunk's id that number it within its blob: 1 TiB.
const CHUNK_BITS: u32 = 24;

/// Chunks that are deleted at a time.
const DELETED_MAX: u64 = 1024;

/// Blobs that are being read, or are stored and not used yet. They are not removed.
#[derive(Clone, Debug, Default)]
pub struct Pins(Arc<Mutex<HashMap<i64, usize>>>);

/// Keeps a blob as long as it lives.
#[derive(Debug)]
pub struct Pin {
    pins: Pins,
    blob: i64,
}

impl Pins {
    pub fn pin(&self, blob: i64) -> Pin {
        let mut pinned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *pinned.entry(blob).or_default() += 1;
        Pin {
            pins: self.clone(),
            blob,
        }
    }

    fn is_pinned(&self, blob: i64) -> bool {
        let pinned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pinned.contains_key(&blob)
    }
}

impl Pin {
    pub fn blob(&self) -> i64 {
        self.blob
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let mut pinned = self.pins.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = pinned.get_mut(&self.blob) {
            *count -= 1;
            if *count == 0 {
                pinned.remove(&self.blob);
            }
        }
    }
}

/// Begins a blob whose bytes arrive.
pub fn begin(connection: &Connection) -> Result<i64> {
    let mut statement = connection.prepare_cached("INSERT INTO blobs(digest) VALUES (NULL)")?;
    Ok(statement.insert([])?)
}

/// Adds bytes at `offset`, which is a multiple of [`CHUNK_BYTES`].
pub fn append(connection: &Connection, blob: i64, offset: u64, bytes: &[u8]) -> Result<()> {
    let mut statement =
        connection.prepare_cached("INSERT INTO chunks(id, bytes) VALUES (?1, ?2)")?;
    let first = offset / CHUNK_BYTES as u64;
    for (number, chunk) in (first..).zip(bytes.chunks(CHUNK_BYTES)) {
        statement.execute((chunk_id(blob, number)?, chunk))?;
    }
    Ok(())
}

/// Names a blob whose bytes are complete by their digest. If there is one like it, that is used and the new one goes.
pub fn finish(connection: &Connection, blob: i64, digest: &[u8; 32]) -> Result<i64> {
    if let Some(same) = find(connection, digest)? {
        let (first, end) = (chunk_id(blob, 0)?, chunk_id(blob + 1, 0)?);
        connection
            .prepare_cached("DELETE FROM chunks WHERE id >= ?1 AND id < ?2")?
            .execute([first, end])?;
        connection
            .prepare_cached("DELETE FROM blobs WHERE id = ?1")?
            .execute([blob])?;
        return Ok(same);
    }
    connection
        .prepare_cached("UPDATE blobs SET digest = ?2 WHERE id = ?1")?
        .execute((blob, digest))?;
    Ok(blob)
}

/// Stores bytes that are all there, unless they are known.
pub fn store(connection: &Connection, digest: &[u8; 32], bytes: &[u8]) -> Result<i64> {
    if let Some(same) = find(connection, digest)? {
        return Ok(same);
    }
    let blob = begin(connection)?;
    append(connection, blob, 0, bytes)?;
    finish(connection, blob, digest)
}

fn find(connection: &Connection, digest: &[u8; 32]) -> Result<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT id FROM blobs WHERE digest = ?1")?;
    Ok(statement.query_row([digest], |row| row.get(0)).optional()?)
}

/// Whether a blob is there, with all its bytes.
pub fn exists(connection: &Connection, blob: i64) -> Result<bool> {
    let mut statement =
        connection.prepare_cached("SELECT 1 FROM blobs WHERE id = ?1 AND digest IS NOT NULL")?;
    Ok(statement.exists([blob])?)
}

/// Counts a body that has the blob in or out.
pub fn count(connection: &Connection, blob: i64, change: i64) -> Result<()> {
    let mut statement =
        connection.prepare_cached("UPDATE blobs SET refs = refs + ?2 WHERE id = ?1")?;
    match statement.execute([blob, change])? {
        1 => Ok(()),
        // It was taken away between the upload and the edit: the upload's owner let go of it.
        _ => Err(Error::BadRequest(
            "the attachment is no longer stored".to_owned(),
        )),
    }
}

/// So many stored bytes from `offset` on.
pub fn read(connection: &Connection, blob: i64, offset: u64, count: usize) -> Result<Bytes> {
    let mut bytes = Vec::with_capacity(count);
    let mut statement = connection.prepare_cached("SELECT bytes FROM chunks WHERE id = ?1")?;
    while bytes.len() < count {
        let at = offset + bytes.len() as u64;
        let (number, start) = (at / CHUNK_BYTES as u64, at as usize % CHUNK_BYTES);
        let wanted = count - bytes.len();
        statement.query_row([chunk_id(blob, number)?], |row| {
            let chunk = row.get_ref(0)?.as_blob()?;
            let part = chunk.get(start..).filter(|part| !part.is_empty());
            let part = part.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            bytes.extend_from_slice(&part[..part.len().min(wanted)]);
            Ok(())
        })?;
    }
    Ok(bytes.into())
}

/// Takes away some of the bytes that no body has; false when none are left.
///
/// The row of the last blob stays, without bytes: SQLite gives the id after the last one. No later blob has the id of a removed one, so
/// that who has read a document does not get other bytes for its attachments.
pub fn remove_unused(connection: &Connection, pins: &Pins) -> Result<bool> {
    let last: i64 = connection
        .prepare_cached("SELECT coalesce(max(id), 0) FROM blobs")?
        .query_row([], |row| row.get(0))?;
    let mut statement =
        connection.prepare_cached("SELECT id FROM blobs WHERE refs = 0 ORDER BY id")?;
    let unused = statement.query_map([], |row| row.get::<_, i64>(0))?;
    for blob in unused {
        let blob = blob?;
        if pins.is_pinned(blob) {
            continue;
        }
        let (first, end) = (chunk_id(blob, 0)?, chunk_id(blob + 1, 0)?);
        // From the end, so that what is left is still numbered from 0.
        let mut chunks = connection.prepare_cached(
            "DELETE FROM chunks WHERE id IN
             (SELECT id FROM chunks WHERE id >= ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3)",
        )?;
        let deleted = chunks.execute((first, end, DELETED_MAX as i64))?;
        // A concurrent upload of the same bytes starts again.
        let whole = (deleted as u64) < DELETED_MAX;
        let sql = match whole && blob != last {
            true => "DELETE FROM blobs WHERE id = ?1",
            false => "UPDATE blobs SET digest = NULL WHERE id = ?1 AND digest IS NOT NULL",
        };
        let changed = connection.prepare_cached(sql)?.execute([blob])?;
        if deleted + changed > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

fn chunk_id(blob: i64, number: u64) -> Result<i64> {
    if number >= 1 << CHUNK_BITS {
        return Err(Error::TooLarge("the attachment is too large".to_owned()));
    }
    Ok(blob << CHUNK_BITS | number as i64)
}
