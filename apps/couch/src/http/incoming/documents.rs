//! A document that arrives.

use super::data::{Arrived, Arriving};
use super::receiver::Receiver;
use crate::http::body::{Held, in_its_place};
use crate::http::{HttpError, HttpResult};
use crate::json::{Capture, Step};
use crate::store::{Database, Edit, Error, GivenData};

/// The memory of an attachment that is being stored, in bytes: the part of it that is written at a time, and what compresses it.
const STORING_BYTES: usize = 3 << 20;

/// The memory of what is known of an attachment, in bytes.
const ATTACHMENT_BYTES: usize = 256;

/// The text of a document, and the data of its attachments.
#[derive(Debug)]
pub struct Captured {
    /// The text. It has the numbers of the data instead of the data.
    pub text: String,
    /// The data.
    pub data: Vec<GivenData>,
    /// Their memory, if it counts.
    pub held: Option<Held>,
}

impl Captured {
    /// Reads the document.
    ///
    /// # Errors
    /// If it is none.
    pub async fn edit(self, db: &Database) -> HttpResult<Edit> {
        let limits = db.limits();
        let Captured { text, data, held } = self;
        in_its_place(text.len(), move || {
            let edit = Edit::from_captured(&text, &limits, data);
            drop(held);
            Ok(edit?)
        })
        .await
    }

    /// The bytes that it takes in memory.
    pub fn bytes(&self) -> usize {
        let kept = self.data.iter().map(|data| match data {
            GivenData::Bytes(bytes) => bytes.len(),
            _ => 0,
        });
        self.text.len() + kept.sum::<usize>() + self.data.len() * ATTACHMENT_BYTES
    }
}

/// A document of which a part has arrived.
pub struct Arrival<'a> {
    receiver: &'a Receiver<'a>,
    capture: Capture,
    arriving: Option<Arriving>,
    arrived: Vec<Arrived>,
    kept_bytes: usize,
    held: Held,
}

impl<'a> Arrival<'a> {
    pub fn new(receiver: &'a Receiver<'a>) -> Self {
        Arrival {
            receiver,
            capture: Capture::of_document(),
            arriving: None,
            arrived: Vec::new(),
            kept_bytes: 0,
            held: Held::new(&receiver.server.body_memory),
        }
    }

    /// Takes bytes. Returns whether the document is complete; what follows it is left in `input` then.
    pub async fn feed(&mut self, input: &mut &[u8]) -> HttpResult<bool> {
        loop {
            let step = self.capture.step(input).map_err(Error::from)?;
            match step {
                Step::More | Step::Done => {
                    self.hold()?;
                    return Ok(step == Step::Done);
                }
                Step::DataStart => {
                    self.arriving = Some(Arriving::new(self.capture.content_type()));
                }
                Step::Data(data) => self.write(data).await?,
                Step::Escaped(character) => self.write(&[character]).await?,
                Step::DataEnd => {
                    if let Some(arriving) = self.arriving.take() {
                        let arrived = arriving.finish(self.receiver).await?;
                        self.kept_bytes += arrived.kept_bytes();
                        self.arrived.push(arrived);
                    }
                }
            }
        }
    }

    async fn write(&mut self, data: &[u8]) -> HttpResult<()> {
        if let Some(arriving) = &mut self.arriving {
            arriving.write(self.receiver, data, self.kept_bytes).await?;
        }
        Ok(())
    }

    /// Counts the memory.
    fn hold(&mut self) -> HttpResult<()> {
        let bytes = self.capture.received_bytes();
        if bytes > self.receiver.server.body_bytes_max() {
            return Err(HttpError::BodyTooLarge);
        }
        let is_storing = self.arriving.as_ref().is_some_and(Arriving::is_stored);
        let storing = if is_storing { STORING_BYTES } else { 0 };
        let known = self.arrived.len() * ATTACHMENT_BYTES;
        self.held.set(bytes + self.kept_bytes + storing + known)
    }

    /// Ends the document.
    pub async fn finish(self) -> HttpResult<Captured> {
        if self.arriving.is_some() {
            let reason = "a string does not end".to_owned();
            return Err(HttpError::BadJson(reason));
        }
        let (text, content_types) = self.capture.finish().map_err(Error::from)?;
        let mut data = Vec::with_capacity(self.arrived.len());
        for (arrived, content_type) in self.arrived.into_iter().zip(content_types) {
            data.push(
                arrived
                    .given(self.receiver, content_type.as_deref())
                    .await?,
            );
        }
        Ok(Captured {
            text,
            data,
            held: Some(self.held),
        })
    }
}
