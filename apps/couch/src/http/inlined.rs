//! Answers with attachments in their JSON. Their data is read from the database while it is sent.

use super::content::{Content, Form};
use super::{HttpResult, reply};
use crate::store::{AttachmentReader, Database, Segment, has_gaps, segments};
use axum::http::{StatusCode, header};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use std::collections::VecDeque;

/// The unsent part of a text. Its attachments are kept until they are sent, even if their documents change.
#[derive(Debug, Default)]
struct Filling {
    parts: VecDeque<Part>,
    data: Option<Data>,
}

#[derive(Debug)]
enum Part {
    Text(Bytes),
    Data(AttachmentReader),
}

/// The unsent bytes of an attachment, encoded three at a time.
#[derive(Debug)]
struct Data {
    content: Content,
    waiting: Vec<u8>,
    is_done: bool,
}

impl Filling {
    /// Opens the attachments of a text.
    fn open(db: &Database, text: Bytes) -> HttpResult<Self> {
        let part = |segment| match segment {
            Segment::Text(text) => Ok(Part::Text(text)),
            Segment::Data(attachment) => Ok(Part::Data(db.attachment(&attachment)?)),
        };
        let parts: HttpResult<VecDeque<Part>> = segments(text).into_iter().map(part).collect();
        Ok(Filling {
            parts: parts?,
            data: None,
        })
    }

    /// The size of the text with its attachments, in bytes.
    fn length(&self) -> u64 {
        let length = |part: &Part| match part {
            Part::Text(text) => text.len() as u64,
            Part::Data(reader) => reader.attachment().length.div_ceil(3) * 4,
        };
        self.parts.iter().map(length).sum()
    }

    fn next_bytes(&mut self) -> HttpResult<Option<Bytes>> {
        loop {
            if let Some(data) = &mut self.data {
                let bytes = data.next_bytes()?;
                if !bytes.is_empty() {
                    return Ok(Some(bytes));
                }
                self.data = None;
            }
            match self.parts.pop_front() {
                None => return Ok(None),
                Some(Part::Text(text)) => return Ok(Some(text)),
                Some(Part::Data(reader)) => {
                    self.data = Some(Data {
                        content: Content::of(reader, Form::Decoded),
                        waiting: Vec::new(),
                        is_done: false,
                    });
                }
            }
        }
    }
}

impl Data {
    /// Returns the next characters; none at the end.
    fn next_bytes(&mut self) -> HttpResult<Bytes> {
        while !self.is_done {
            let piece = self.content.next_piece()?;
            self.is_done = piece.is_empty();
            self.waiting.extend_from_slice(&piece);
            let whole = match self.is_done {
                true => self.waiting.len(),
                false => self.waiting.len() / 3 * 3,
            };
            let rest = self.waiting.split_off(whole);
            let encoded = STANDARD.encode(std::mem::replace(&mut self.waiting, rest));
            if !encoded.is_empty() {
                return Ok(encoded.into());
            }
        }
        Ok(Bytes::new())
    }
}

/// Returns a text as an answer, with the attachments that belong into it.
///
/// # Errors
/// If an attachment was removed since the text was read.
pub fn whole(db: &Database, status: StatusCode, text: Vec<u8>) -> HttpResult {
    if !has_gaps(&text) {
        return Ok(reply::text(status, text));
    }
    let filling = Filling::open(db, text.into())?;
    let length = filling.length().to_string();
    let mut response = reply::text(status, reply::body(bytes_of(filling)));
    reply::set(&mut response, header::CONTENT_LENGTH, &length);
    Ok(response)
}

/// Adds the attachments that belong into the pieces of a text.
pub fn pieces(
    db: Database,
    texts: impl Stream<Item = HttpResult<Bytes>> + Send + 'static,
) -> impl Stream<Item = HttpResult<Bytes>> + Send + 'static {
    let start = (db, Box::pin(texts), Filling::default());
    stream::try_unfold(start, |(db, mut texts, mut filling)| async move {
        loop {
            if let Some(bytes) = filling.next_bytes()? {
                return Ok(Some((bytes, (db, texts, filling))));
            }
            match texts.next().await.transpose()? {
                None => return Ok(None),
                Some(text) if !has_gaps(&text) => {
                    return Ok(Some((text, (db, texts, filling))));
                }
                Some(text) => filling = Filling::open(&db, text)?,
            }
        }
    })
}

fn bytes_of(filling: Filling) -> impl Stream<Item = HttpResult<Bytes>> + Send + 'static {
    stream::try_unfold(filling, |mut filling| async move {
        Ok(filling.next_bytes()?.map(|bytes| (bytes, filling)))
    })
}

/// Adds the attachments to a text in memory.
///
/// # Errors
/// If an attachment was removed since the text was read, or `check` refuses the size in bytes.
pub fn filled(
    db: &Database,
    text: Vec<u8>,
    check: impl Fn(u64) -> HttpResult<()>,
) -> HttpResult<Vec<u8>> {
    check(text.len() as u64)?;
    if !has_gaps(&text) {
        return Ok(text);
    }
    let mut filling = Filling::open(db, text.into())?;
    check(filling.length())?;
    let mut filled = Vec::new();
    while let Some(bytes) = filling.next_bytes()? {
        filled.extend_from_slice(&bytes);
    }
    Ok(filled)
}
