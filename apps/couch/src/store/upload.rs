//! Attachments on their way in.

use super::blobs::{self, CHUNK_BYTES, Pin};
use super::encoder::Encoder;
use super::shared::Shared;
use super::{Encoding, Error, Facts, Result};
use bytes::Bytes;
use std::sync::Arc;

/// Stored bytes that are written at a time: whole chunks.
const WRITTEN_BYTES: usize = 16 * CHUNK_BYTES;

/// An attachment's bytes that are stored and belong to no document yet. Clones keep them; once the last is gone without
/// an edit that has them, the space is used again.
#[derive(Clone, Debug)]
pub struct StoredContent {
    /// The properties of the uploaded bytes.
    pub facts: Facts,
    pin: Arc<Pin>,
}

impl StoredContent {
    pub(crate) fn blob(&self) -> i64 {
        self.pin.blob()
    }
}

/// Stores an attachment piece by piece, with about 1 MiB of it in memory.
#[derive(Debug)]
pub struct Upload {
    shared: Arc<Shared>,
    encoder: Encoder,
    begun: Option<Begun>,
}

/// A blob with some of the bytes. When the upload ends before it is complete, they go.
#[derive(Debug)]
struct Begun {
    shared: Arc<Shared>,
    pin: Option<Pin>,
    blob: i64,
    /// Bytes that are written.
    written: u64,
}

impl Drop for Begun {
    fn drop(&mut self) {
        if self.pin.take().is_some() {
            let pins = self.shared.pins.clone();
            drop(self.shared.write(move |connection| {
                while blobs::remove_unused(connection, &pins)? {}
                Ok(((), None))
            }));
        }
    }
}

impl Upload {
    pub(crate) fn new(shared: Arc<Shared>, content_type: &str, encoding: Encoding) -> Self {
        Upload {
            shared,
            encoder: Encoder::new(content_type, encoding),
            begun: None,
        }
    }

    /// Adds a piece.
    ///
    /// # Errors
    /// If it gets larger than the limit, the disk is full, or bytes that were said to be compressed are not.
    pub async fn write(&mut self, piece: Bytes) -> Result<()> {
        self.encoder.write(&piece)?;
        let max = self.shared.limits.get().attachment_bytes_max;
        if self.encoder.length() > max {
            return Err(Error::TooLarge(format!(
                "the attachment is larger than {max} bytes"
            )));
        }
        while self.encoder.waiting() >= WRITTEN_BYTES {
            let bytes = self.encoder.take(WRITTEN_BYTES);
            self.flush(bytes).await?;
        }
        Ok(())
    }

    async fn flush(&mut self, bytes: Vec<u8>) -> Result<()> {
        let count = bytes.len() as u64;
        let Some(begun) = &mut self.begun else {
            let pins = self.shared.pins.clone();
            let begun = self.shared.write(move |connection| {
                let blob = blobs::begin(connection)?;
                blobs::append(connection, blob, 0, &bytes)?;
                Ok((pins.pin(blob), None))
            });
            let pin = begun.await?;
            self.begun = Some(Begun {
                shared: Arc::clone(&self.shared),
                blob: pin.blob(),
                pin: Some(pin),
                written: count,
            });
            return Ok(());
        };
        let (blob, at) = (begun.blob, begun.written);
        begun.written += count;
        let appended = self
            .shared
            .write(move |connection| Ok((blobs::append(connection, blob, at, &bytes)?, None)));
        appended.await
    }

    /// Ends it, durable.
    ///
    /// # Errors
    /// Those of [`Upload::write`]; [`Error::BadRequest`] if the MD5 of the received bytes differs from `received_md5`.
    pub async fn finish(self, received_md5: Option<[u8; 16]>) -> Result<StoredContent> {
        let encoded = self.encoder.finish()?;
        if received_md5.is_some_and(|given| given != encoded.received_md5) {
            return Err(Error::BadRequest(
                "Content-MD5 or digest does not match the attachment".to_owned(),
            ));
        }
        let pins = self.shared.pins.clone();
        let begun = self.begun.as_ref().map(|begun| (begun.blob, begun.written));
        let facts = encoded.facts;
        let stored = self.shared.write(move |connection| {
            let blob = match begun {
                None => blobs::store(connection, &encoded.sha256, &encoded.rest)?,
                Some((blob, written)) => {
                    blobs::append(connection, blob, written, &encoded.rest)?;
                    blobs::finish(connection, blob, &encoded.sha256)?
                }
            };
            // Here, where nothing is taken away meanwhile.
            Ok((pins.pin(blob), None))
        });
        let pin = Arc::new(stored.await?);
        if let Some(mut begun) = self.begun {
            begun.pin = None;
        }
        Ok(StoredContent { facts, pin })
    }
}
