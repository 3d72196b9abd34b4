//! Attachments on their way out.

use super::blobs::{self, Pin};
use super::shared::Shared;
use super::{Attachment, Result};
use bytes::Bytes;
use std::sync::Arc;

/// Reads an attachment's stored bytes in pieces. The bytes are kept until the end, even if the document changes.
#[derive(Debug)]
pub struct AttachmentReader {
    shared: Arc<Shared>,
    attachment: Attachment,
    _pin: Pin,
}

impl AttachmentReader {
    pub(crate) fn new(shared: Arc<Shared>, attachment: Attachment, pin: Pin) -> Self {
        AttachmentReader {
            shared,
            attachment,
            _pin: pin,
        }
    }

    /// At most `bytes_max` of the *stored* bytes from `offset` on (and at most 1 MiB); empty at the end. Short and bounded.
    ///
    /// # Errors
    /// If SQLite refuses, or the database was closed.
    pub fn read(&self, offset: u64, bytes_max: usize) -> Result<Bytes> {
        let left = self.attachment.stored_length.saturating_sub(offset);
        let count = (bytes_max.min(1 << 20) as u64).min(left) as usize;
        self.shared
            .readers
            .read(|connection| blobs::read(connection, self.attachment.blob, offset, count))
    }

    /// The attachment that is read.
    pub fn attachment(&self) -> &Attachment {
        &self.attachment
    }
}
