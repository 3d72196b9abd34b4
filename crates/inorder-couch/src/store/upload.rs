//! Attachments on their way in.

use super::{Database, Encoding, Result};
use bytes::Bytes;

/// An attachment's bytes that are stored and belong to no document yet. Clones keep them; once the last is gone without
/// an edit that has them, the space is used again.
#[derive(Clone, Debug)]
pub struct StoredContent {
    /// MD5 of the stored bytes.
    pub md5: [u8; 16],
    /// Bytes when decoded.
    pub length: u64,
    /// Bytes as stored.
    pub stored_length: u64,
    /// How they are stored.
    pub encoding: Encoding,
}

/// Stores an attachment piece by piece, with at most 1 MiB of it in memory.
#[derive(Debug)]
pub struct Upload {
    pub(crate) database: Database,
}

impl Upload {
    /// Adds a piece.
    ///
    /// # Errors
    /// When it gets larger than the limit, the disk is full, or bytes that were said to be compressed are not.
    pub async fn write(&mut self, piece: Bytes) -> Result<()> {
        todo!("{} {:?}", piece.len(), self.database)
    }

    /// Ends it, durable.
    ///
    /// # Errors
    /// As [`Upload::write`]; [`Error::BadRequest`](super::Error::BadRequest) when the bytes as received have another MD5
    /// than `received_md5`.
    pub async fn finish(self, received_md5: Option<[u8; 16]>) -> Result<StoredContent> {
        todo!("{received_md5:?}")
    }
}
