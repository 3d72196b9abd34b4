//! Reads the bytes of an attachment piece by piece while they are sent.

use crate::http::{HttpError, HttpResult};
use crate::store::{Attachment, AttachmentReader, Database, Encoding};
use bytes::Bytes;
use flate2::read::GzDecoder;
use std::io::{self, BufReader, Read};

/// The size of a piece, in bytes.
const PIECE_BYTES: usize = 64 << 10;

/// The form in which an attachment is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The stored bytes, possibly compressed.
    Stored,
    /// The original bytes.
    Decoded,
}

/// The unsent bytes of an attachment.
#[derive(Debug)]
pub enum Content {
    /// The stored bytes.
    Stored(Stored),
    /// The decompressed bytes.
    Unpacked(Box<GzDecoder<BufReader<Stored>>>),
}

/// A range of the stored bytes.
#[derive(Debug)]
pub struct Stored {
    reader: AttachmentReader,
    from: u64,
    to: u64,
}

impl Stored {
    fn next(&mut self, bytes_max: usize) -> Result<Bytes, crate::store::Error> {
        let left = usize::try_from(self.to - self.from).unwrap_or(usize::MAX);
        let bytes = match left.min(bytes_max) {
            0 => Bytes::new(),
            wanted => self.reader.read(self.from, wanted)?,
        };
        self.from += bytes.len() as u64;
        Ok(bytes)
    }
}

impl Read for Stored {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.next(buffer.len()).map_err(io::Error::other)?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}

impl Content {
    /// Opens an attachment of a document.
    ///
    /// # Errors
    /// If its bytes have been removed.
    pub fn open(db: &Database, attachment: &Attachment, form: Form) -> HttpResult<Self> {
        Ok(Content::of(db.attachment(attachment)?, form))
    }

    /// Returns the bytes of an attachment that is open.
    pub fn of(reader: AttachmentReader, form: Form) -> Self {
        let attachment = reader.attachment();
        let packed = form == Form::Decoded && attachment.encoding == Encoding::Gzip;
        let stored = Stored {
            from: 0,
            to: attachment.stored_length,
            reader,
        };
        if packed {
            Content::Unpacked(Box::new(GzDecoder::new(BufReader::new(stored))))
        } else {
            Content::Stored(stored)
        }
    }

    /// Restricts the content to the stored bytes from `from` up to, not including, `to`.
    pub fn range(mut self, from: u64, to: u64) -> Self {
        if let Content::Stored(stored) = &mut self {
            (stored.from, stored.to) = (from, to.min(stored.to));
        }
        self
    }

    /// Returns the next piece, which is empty at the end.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn next_piece(&mut self) -> HttpResult<Bytes> {
        match self {
            Content::Stored(stored) => Ok(stored.next(PIECE_BYTES)?),
            Content::Unpacked(decoder) => {
                let mut piece = vec![0; PIECE_BYTES];
                let read = decoder.read(&mut piece);
                let bytes = read.map_err(|error| HttpError::Internal(error.to_string()))?;
                piece.truncate(bytes);
                Ok(piece.into())
            }
        }
    }
}
