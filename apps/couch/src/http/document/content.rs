//! An attachment's bytes, read piece by piece as they are sent.

use crate::http::{HttpError, HttpResult};
use crate::store::{Attachment, AttachmentReader, Database, Encoding};
use bytes::Bytes;
use flate2::read::GzDecoder;
use std::io::{self, BufReader, Read};

/// Bytes of a piece.
const PIECE_BYTES: usize = 64 << 10;

/// The form in which an attachment is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The stored bytes, possibly compressed.
    Stored,
    /// The original bytes.
    Decoded,
}

/// The bytes of an attachment that are still to be sent.
#[derive(Debug)]
pub enum Content {
    /// Bytes as they are stored.
    Stored(Stored),
    /// Compressed ones, unpacked.
    Unpacked(Box<GzDecoder<BufReader<Stored>>>),
}

/// Stored bytes from an offset on.
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
    /// Begins to read an attachment of a document that was read.
    ///
    /// # Errors
    /// If its bytes were removed.
    pub fn open(db: &Database, attachment: &Attachment, form: Form) -> HttpResult<Self> {
        let stored = Stored {
            reader: db.attachment(attachment)?,
            from: 0,
            to: attachment.stored_length,
        };
        let packed = form == Form::Decoded && attachment.encoding == Encoding::Gzip;
        Ok(if packed {
            Content::Unpacked(Box::new(GzDecoder::new(BufReader::new(stored))))
        } else {
            Content::Stored(stored)
        })
    }

    /// Leaves out all but a range of the stored bytes; `to` is behind the last.
    pub fn range(mut self, from: u64, to: u64) -> Self {
        if let Content::Stored(stored) = &mut self {
            (stored.from, stored.to) = (from, to.min(stored.to));
        }
        self
    }

    /// The next piece; empty at the end.
    ///
    /// # Errors
    /// If it can't be read.
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
