//! The data of an attachment that arrives in base64.

use super::receiver::Receiver;
use super::spool::Spool;
use crate::http::HttpResult;
use crate::store::{Base64Decoder, Encoding, Error, GivenData, Upload};
use axum::body::Bytes;

/// The largest attachment, in bytes, that stays in memory until its document is written.
const KEPT_BYTES_MAX: usize = 64 << 10;

/// The largest size, in bytes, of all such attachments of a document.
pub const KEPT_OF_DOCUMENT_BYTES_MAX: usize = 4 << 20;

/// An attachment whose data arrives.
pub struct Arriving {
    decoder: Base64Decoder,
    content_type: Option<String>,
    decoded: Vec<u8>,
    decoded_bytes: u64,
    target: Target,
}

enum Target {
    /// So far it is small enough.
    Memory,
    Upload(Box<Upload>),
    /// Its media type is not known, which decides whether it is compressed.
    File(Box<Spool>),
    /// It is no base64.
    None,
}

/// The data of an attachment that has arrived.
pub enum Arrived {
    Given(GivenData),
    /// To be stored once the media type is known.
    File(Box<Spool>),
}

impl Arriving {
    pub fn new(content_type: Option<&str>) -> Self {
        Arriving {
            decoder: Base64Decoder::default(),
            content_type: content_type.map(str::to_owned),
            decoded: Vec::new(),
            decoded_bytes: 0,
            target: Target::Memory,
        }
    }

    /// Whether it has a buffer of its own for what is being stored.
    pub fn is_stored(&self) -> bool {
        matches!(self.target, Target::Upload(_) | Target::File(_))
    }

    /// Takes characters. `kept_bytes` is the size of the document's attachments that stay in memory.
    pub async fn write(
        &mut self,
        receiver: &Receiver<'_>,
        data: &[u8],
        kept_bytes: usize,
    ) -> HttpResult<()> {
        if matches!(self.target, Target::None) {
            return Ok(());
        }
        let before = self.decoded.len();
        if self.decoder.write(data, &mut self.decoded).is_none() {
            (self.target, self.decoded) = (Target::None, Vec::new());
            return Ok(());
        }
        self.decoded_bytes += (self.decoded.len() - before) as u64;
        self.check_size(receiver)?;
        let is_large = self.decoded.len() > KEPT_BYTES_MAX;
        let are_many = kept_bytes + self.decoded.len() > KEPT_OF_DOCUMENT_BYTES_MAX;
        if is_large || are_many && !self.is_stored() {
            self.store(receiver).await?;
        }
        Ok(())
    }

    fn check_size(&self, receiver: &Receiver<'_>) -> HttpResult<()> {
        let max = receiver.db.limits().attachment_bytes_max;
        if self.decoded_bytes > max {
            let reason = format!("the attachment is larger than {max} bytes");
            return Err(Error::TooLarge(reason).into());
        }
        Ok(())
    }

    /// Stores what was decoded.
    async fn store(&mut self, receiver: &Receiver<'_>) -> HttpResult<()> {
        let decoded = std::mem::take(&mut self.decoded);
        if matches!(self.target, Target::Memory) {
            self.target = match &self.content_type {
                Some(content_type) => {
                    let upload = receiver.db.upload(content_type, Encoding::Identity);
                    Target::Upload(Box::new(upload))
                }
                None => Target::File(Box::new(receiver.spool())),
            };
        }
        match &mut self.target {
            Target::Upload(upload) => upload.write(Bytes::from(decoded)).await?,
            Target::File(spool) => {
                spool.write(&decoded)?;
                spool.settle().await?;
            }
            Target::Memory | Target::None => {}
        }
        Ok(())
    }

    /// Ends it.
    pub async fn finish(mut self, receiver: &Receiver<'_>) -> HttpResult<Arrived> {
        if matches!(self.target, Target::None) {
            return Ok(Arrived::Given(GivenData::Invalid));
        }
        let before = self.decoded.len();
        let decoder = std::mem::take(&mut self.decoder);
        if decoder.finish(&mut self.decoded).is_none() {
            return Ok(Arrived::Given(GivenData::Invalid));
        }
        self.decoded_bytes += (self.decoded.len() - before) as u64;
        self.check_size(receiver)?;
        if self.is_stored() {
            self.store(receiver).await?;
        }
        Ok(match self.target {
            Target::Upload(upload) => Arrived::Given(GivenData::Stored(upload.finish(None).await?)),
            Target::File(spool) => Arrived::File(spool),
            Target::Memory | Target::None => Arrived::Given(GivenData::Bytes(self.decoded)),
        })
    }
}

impl Arrived {
    /// The bytes that it has in memory.
    pub fn kept_bytes(&self) -> usize {
        match self {
            Arrived::Given(GivenData::Bytes(bytes)) => bytes.len(),
            _ => 0,
        }
    }

    /// Stores it if it waits for its media type.
    pub async fn given(
        self,
        receiver: &Receiver<'_>,
        content_type: Option<&str>,
    ) -> HttpResult<GivenData> {
        let spool = match self {
            Arrived::Given(data) => return Ok(data),
            Arrived::File(spool) => spool,
        };
        let content_type = content_type.unwrap_or(crate::store::DEFAULT_CONTENT_TYPE);
        let mut upload = receiver.db.upload(content_type, Encoding::Identity);
        let mut spooled = spool.read()?;
        loop {
            let (rest, piece) = spooled.next_piece().await?;
            spooled = rest;
            if piece.is_empty() {
                return Ok(GivenData::Stored(upload.finish(None).await?));
            }
            upload.write(piece).await?;
        }
    }
}
