//! Documents with their attachments as multipart bodies, sent piece by piece.

use crate::http::content::{Content, Form};
use crate::http::{HttpResult, reply};
use crate::multipart::{Boundary, quoted};
use crate::store::{Attachment, AttachmentReader, Database, Document, Encoding, Found};
use axum::http::{StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use serde_json::json;
use std::collections::VecDeque;

/// A piece of a multipart body.
#[derive(Debug)]
pub enum Piece {
    /// Text.
    Text(String),
    /// The bytes of an attachment, in this form.
    Attachment(Attachment, Form),
}

impl Piece {
    /// Returns the size of the piece in bytes.
    pub fn length(&self) -> u64 {
        match self {
            Piece::Text(text) => text.len() as u64,
            Piece::Attachment(attachment, Form::Stored) => attachment.stored_length,
            Piece::Attachment(attachment, Form::Decoded) => attachment.length,
        }
    }
}

/// Streams an answer of several pieces. Each batch is read when it is sent. Its attachments stay until then, even if their documents change.
pub fn response(
    db: Database,
    batches: impl Iterator<Item = Vec<Piece>> + Send + 'static,
    content_type: &str,
) -> Response {
    let sending = Sending {
        db,
        batches,
        ready: VecDeque::new(),
        held: Vec::new(),
        content: None,
    };
    let mut response = reply::pieces(StatusCode::OK, sending, |mut sending| async move {
        Ok(sending.next_bytes()?.map(|bytes| (bytes, sending)))
    });
    reply::set(&mut response, header::CONTENT_TYPE, content_type);
    response
}

struct Sending<B> {
    db: Database,
    batches: B,
    ready: VecDeque<Piece>,
    /// Keeps the attachments of the batch.
    held: Vec<AttachmentReader>,
    content: Option<Content>,
}

impl<B: Iterator<Item = Vec<Piece>>> Sending<B> {
    fn next_bytes(&mut self) -> HttpResult<Option<Bytes>> {
        loop {
            if let Some(content) = &mut self.content {
                let bytes = content.next_piece()?;
                if !bytes.is_empty() {
                    return Ok(Some(bytes));
                }
                self.content = None;
            }
            match self.ready.pop_front() {
                Some(Piece::Text(text)) => return Ok(Some(text.into())),
                Some(Piece::Attachment(attachment, form)) => {
                    self.content = Some(Content::open(&self.db, &attachment, form)?);
                }
                None => match self.batches.next() {
                    Some(batch) => {
                        let held = batch.iter().filter_map(|piece| match piece {
                            Piece::Attachment(attachment, _) => self.db.attachment(attachment).ok(),
                            Piece::Text(_) => None,
                        });
                        self.held = held.collect();
                        self.ready.extend(batch);
                    }
                    None => return Ok(None),
                },
            }
        }
    }
}

/// Returns the parts of a `multipart/related` body: a document and its attachments.
pub fn related(boundary: &Boundary, document: &Document) -> Vec<Piece> {
    let head = boundary.first_part(&[("Content-Type", "application/json")]);
    let mut pieces = vec![Piece::Text(head + &document.to_json())];
    for attachment in following(document) {
        let is_packed = attachment.show_encoding && attachment.encoding == Encoding::Gzip;
        let (form, length) = if is_packed {
            (Form::Stored, attachment.stored_length)
        } else {
            (Form::Decoded, attachment.length)
        };
        let disposition = disposition(&attachment.name);
        let length = length.to_string();
        let mut headers = vec![
            ("Content-Disposition", disposition.as_str()),
            ("Content-Type", &attachment.content_type),
            ("Content-Length", &length),
        ];
        if is_packed {
            headers.push(("Content-Encoding", "gzip"));
        }
        pieces.push(Piece::Text(boundary.part(&headers)));
        pieces.push(Piece::Attachment(attachment.clone(), form));
    }
    pieces.push(Piece::Text(boundary.end()));
    pieces
}

/// Returns the `Content-Disposition` of a part. A header cannot have every name: the reader then goes by the order of the parts.
fn disposition(name: &str) -> String {
    if name.contains(char::is_control) {
        return "attachment".to_owned();
    }
    format!("attachment; filename={}", quoted(name))
}

/// Returns the attachments that are parts of their own.
pub fn following(document: &Document) -> impl Iterator<Item = &Attachment> {
    let attachments = document.attachments.iter();
    attachments.filter(|attachment| attachment.content == crate::store::Content::Follows)
}

/// Returns a document as a part of a `multipart/mixed` body: JSON, or a nested multipart body if it has attachments.
pub fn document(outer: &Boundary, headers: &[(&str, &str)], document: &Document) -> Vec<Piece> {
    if following(document).next().is_none() {
        let headers = with(headers, ("Content-Type", "application/json"));
        return vec![Piece::Text(outer.part(&headers) + &document.to_json())];
    }
    let inner = Boundary::default();
    let content_type = inner.content_type("related");
    let head = outer.part(&with(headers, ("Content-Type", &content_type)));
    let mut pieces = vec![Piece::Text(head)];
    pieces.extend(related(&inner, document));
    pieces
}

/// Returns the entry for a document that cannot be read.
pub fn error(outer: &Boundary, headers: &[(&str, &str)], body: String) -> Vec<Piece> {
    let headers = with(
        headers,
        ("Content-Type", "application/json; error=\"true\""),
    );
    vec![Piece::Text(outer.part(&headers) + &body)]
}

fn with<'a>(headers: &[(&'a str, &'a str)], one: (&'a str, &'a str)) -> Vec<(&'a str, &'a str)> {
    let mut headers = headers.to_vec();
    headers.push(one);
    headers
}

/// Returns the answer to `open_revs` as a `multipart/mixed` body.
pub fn mixed(db: Database, found: Vec<Found>) -> Response {
    let outer = Boundary::default();
    let content_type = outer.content_type("mixed");
    let end = vec![Piece::Text(outer.end())];
    let held: Vec<AttachmentReader> = found
        .iter()
        .filter_map(|one| match one {
            Found::Document(found) => Some(following(found)),
            Found::Missing(_) => None,
        })
        .flatten()
        .filter_map(|attachment| db.attachment(attachment).ok())
        .collect();
    let batches = found.into_iter().enumerate().map(move |(at, one)| {
        let _until_the_end = &held;
        let mut pieces = match one {
            Found::Document(found) => document(&outer, &[], &found),
            Found::Missing(rev) => error(&outer, &[], json!({ "missing": rev }).to_string()),
        };
        // As in CouchDB, nothing is before the first boundary.
        if at == 0
            && let Some(Piece::Text(text)) = pieces.first_mut()
        {
            *text = text.trim_start().to_owned();
        }
        pieces
    });
    response(db, batches.chain([end]), &content_type)
}
