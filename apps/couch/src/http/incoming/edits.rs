//! The edits of a request with many documents.

use super::documents::Captured;
use super::receiver::Receiver;
use super::spool::{Spool, Spooled, failed};
use crate::http::blocking::blocking;
use crate::http::body::{Held, in_its_place};
use crate::http::{HttpError, HttpResult};
use crate::store::{Database, Edit, Error, GivenData, Limits, Refusal, StoredContent};
use serde::Deserialize;
use std::io::{self, Read};

/// The maximum number of documents per request. Each takes some hundred bytes of memory, however short its text is.
const DOCS_MAX: usize = 100_000;

/// The maximum number of edits that are written together. Other writes wait meanwhile.
const BATCH_EDITS_MAX: usize = 2000;

/// The bytes of documents that are written together.
const BATCH_BYTES_MAX: usize = 4 << 20;

/// The memory of an edit, in bytes, without its text.
const EDIT_BYTES: usize = 400;

/// The memory of an attachment that is stored and belongs to no document yet, in bytes.
const STORED_BYTES: usize = 200;

/// A document that is refused alone. The other documents of the request are written.
pub struct Unreadable {
    /// Its id.
    pub id: Option<String>,
    /// Why.
    pub refusal: Refusal,
}

/// One document of a request.
pub type OneGiven = Result<Edit, Unreadable>;

/// Documents that wait for the end of their request. Each was read once, so that a request with a wrong one is refused before
/// anything is written.
pub struct Gathering<'a> {
    receiver: &'a Receiver<'a>,
    count: usize,
    /// Whether a document has no revision.
    lacks_revision: bool,
    /// The edits, as long as they are few.
    edits: Option<Vec<OneGiven>>,
    edits_bytes: usize,
    spool: Spool,
    stored: Vec<StoredContent>,
    held: Held,
}

impl<'a> Gathering<'a> {
    /// Starts without documents.
    pub fn new(receiver: &'a Receiver<'a>) -> Self {
        Gathering {
            receiver,
            count: 0,
            lacks_revision: false,
            edits: Some(Vec::new()),
            edits_bytes: 0,
            spool: receiver.spool(),
            stored: Vec::new(),
            held: Held::new(&receiver.server.body_memory),
        }
    }

    /// Whether a document has no revision, which a replicated one needs.
    pub fn lacks_revision(&self) -> bool {
        self.lacks_revision
    }

    /// Adds a document.
    ///
    /// # Errors
    /// If it is none or has no valid id, or there are too many.
    pub async fn add(&mut self, captured: Captured) -> HttpResult<()> {
        self.count += 1;
        if self.count > DOCS_MAX {
            return Err(HttpError::TooManyDocuments(DOCS_MAX));
        }
        self.keep(&captured)?;
        self.edits_bytes += captured.bytes() + EDIT_BYTES;
        if self.edits_bytes > BATCH_BYTES_MAX || self.count > BATCH_EDITS_MAX {
            self.edits = None;
        }
        let (limits, bytes) = (self.receiver.db.limits(), captured.text.len());
        let given = in_its_place(bytes, move || read_one(captured, &limits)).await?;
        if let Ok(edit) = &given {
            let id = edit.id.as_deref();
            id.map_or(Ok(()), |id| self.receiver.db.check_id(id))?;
            self.lacks_revision |= edit.history.is_none();
        }
        if let Some(edits) = &mut self.edits {
            edits.push(given);
        }
        let waiting = self.edits.as_ref().map_or(0, |_| self.edits_bytes);
        self.held.set(waiting + self.stored.len() * STORED_BYTES)?;
        self.spool.settle().await
    }

    /// Writes a document to the spool: its text, then its data.
    fn keep(&mut self, captured: &Captured) -> HttpResult<()> {
        let mut record = Vec::with_capacity(captured.text.len() + 16);
        put(&mut record, captured.text.as_bytes());
        put_number(&mut record, captured.data.len());
        for data in &captured.data {
            match data {
                GivenData::Bytes(bytes) => {
                    record.push(0);
                    put(&mut record, bytes);
                }
                GivenData::Stored(content) => {
                    record.push(1);
                    put_number(&mut record, self.stored.len());
                    self.stored.push(content.clone());
                }
                GivenData::Invalid => record.push(2),
            }
        }
        self.spool.write(&record)
    }

    /// Returns the documents, to be written in the order in which they came.
    ///
    /// # Errors
    /// If they cannot be read again.
    pub fn finish(self) -> HttpResult<Batches> {
        Ok(Batches {
            db: self.receiver.db.clone(),
            left: self.count,
            edits: self.edits,
            records: Some(Records {
                spooled: self.spool.read()?,
                stored: self.stored,
            }),
            _held: self.held,
        })
    }
}

/// Documents that are read again in batches.
pub struct Batches {
    db: Database,
    left: usize,
    edits: Option<Vec<OneGiven>>,
    records: Option<Records>,
    _held: Held,
}

struct Records {
    spooled: Spooled,
    stored: Vec<StoredContent>,
}

impl Batches {
    /// Returns the next documents; none at the end.
    ///
    /// # Errors
    /// If they cannot be read again.
    pub async fn next_batch(&mut self) -> HttpResult<Option<Vec<OneGiven>>> {
        if let Some(edits) = self.edits.take() {
            self.left = 0;
            return Ok((!edits.is_empty()).then_some(edits));
        }
        let Some(mut records) = self.records.take().filter(|_| self.left > 0) else {
            return Ok(None);
        };
        let (left, limits) = (self.left.min(BATCH_EDITS_MAX), self.db.limits());
        let read = move || -> HttpResult<(Records, Vec<OneGiven>)> {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while batch.len() < left && bytes < BATCH_BYTES_MAX {
                let captured = records.next()?;
                bytes += captured.bytes() + EDIT_BYTES;
                batch.push(read_one(captured, &limits)?);
            }
            Ok((records, batch))
        };
        let (records, batch) = blocking(read).await??;
        self.records = Some(records);
        self.left -= batch.len();
        Ok(Some(batch))
    }
}

impl Records {
    fn next(&mut self) -> HttpResult<Captured> {
        let text = String::from_utf8(self.bytes()?);
        let text = text.map_err(|_| failed(io::ErrorKind::InvalidData.into()))?;
        let count = self.number()?;
        let mut data = Vec::with_capacity(count);
        for _ in 0..count {
            let mut kind = [0];
            self.spooled.read_exact(&mut kind).map_err(failed)?;
            data.push(match kind {
                [0] => GivenData::Bytes(self.bytes()?),
                [1] => {
                    let at = self.number()?;
                    let content = self.stored.get(at).cloned();
                    content.map_or(GivenData::Invalid, GivenData::Stored)
                }
                _ => GivenData::Invalid,
            });
        }
        Ok(Captured {
            text,
            data,
            held: None,
        })
    }

    fn number(&mut self) -> HttpResult<usize> {
        let mut number = [0; 8];
        self.spooled.read_exact(&mut number).map_err(failed)?;
        Ok(u64::from_le_bytes(number) as usize)
    }

    fn bytes(&mut self) -> HttpResult<Vec<u8>> {
        let mut bytes = vec![0; self.number()?];
        self.spooled.read_exact(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }
}

fn put_number(record: &mut Vec<u8>, number: usize) {
    record.extend_from_slice(&(number as u64).to_le_bytes());
}

fn put(record: &mut Vec<u8>, bytes: &[u8]) {
    put_number(record, bytes.len());
    record.extend_from_slice(bytes);
}

fn read_one(captured: Captured, limits: &Limits) -> HttpResult<OneGiven> {
    #[derive(Deserialize)]
    struct Id {
        _id: Option<String>,
    }
    let Captured { text, data, .. } = captured;
    match Edit::from_captured(&text, limits, data) {
        Ok(edit) => Ok(Ok(edit)),
        Err(Error::TooDeep(reason)) => {
            let id = serde_json::from_str(&text).ok().and_then(|Id { _id }| _id);
            let refusal = Refusal::BadRequest(reason);
            Ok(Err(Unreadable { id, refusal }))
        }
        Err(error) => Err(error.into()),
    }
}
