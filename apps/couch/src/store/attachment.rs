//! Attachments as they are stored with a revision and read.

use super::Result;
use base64::Engine;
use serde::{Deserialize, Serialize};

/// The media type of an attachment that came without one.
pub(crate) const DEFAULT_CONTENT_TYPE: &str = "application/octet-stream";

/// Begins and ends a gap for the data of an attachment in a text: a control character, which JSON escapes.
pub const GAP: u8 = 0;

/// The stored form of an attachment's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// Unchanged.
    Identity,
    /// Compressed, as CouchDB does with text, JSON, XML and JavaScript.
    Gzip,
}

/// The properties of an attachment's bytes after the upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// MD5 of the stored bytes.
    pub md5: [u8; 16],
    /// Bytes when decoded.
    pub length: u64,
    /// Bytes as stored.
    pub stored_length: u64,
    /// The stored form.
    pub encoding: Encoding,
}

/// The form in which an attachment is returned with its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Nothing: `"stub":true`.
    Stub,
    /// All, decoded: `"data"` in base64. In the text is a gap for it.
    Inline,
    /// It follows the document as a separate part: `"follows":true`.
    Follows,
}

/// An attachment of a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Its name, unique in the document.
    pub name: String,
    /// Its media type.
    pub content_type: String,
    /// The generation of the revision it came with.
    pub revpos: u64,
    /// MD5 of the stored bytes; CouchDB's `digest` is this in base64 after `md5-`.
    pub md5: [u8; 16],
    /// Bytes when decoded.
    pub length: u64,
    /// Bytes as stored.
    pub stored_length: u64,
    /// The stored form.
    pub encoding: Encoding,
    /// Whether `encoding` and `encoded_length` are shown.
    pub show_encoding: bool,
    /// The form in which it is returned with the document.
    pub content: Content,
    /// The location of the bytes.
    pub(crate) blob: i64,
}

impl Attachment {
    /// The digest as CouchDB writes it: `md5-` and base64.
    pub fn digest(&self) -> String {
        let encoded = base64::engine::general_purpose::STANDARD.encode(self.md5);
        format!("md5-{encoded}")
    }

    /// Appends the attachment as it stands in `_attachments`, without its name.
    pub(crate) fn write_json(&self, out: &mut Vec<u8>) {
        let is_inline = matches!(self.content, Content::Inline);
        let shown = Shown {
            content_type: &self.content_type,
            revpos: self.revpos,
            digest: self.digest(),
            data: is_inline.then_some(""),
            length: (!is_inline).then_some(self.length),
            stub: matches!(self.content, Content::Stub).then_some(true),
            follows: matches!(self.content, Content::Follows).then_some(true),
            encoding: self.shown_encoding(),
            encoded_length: self.shown_encoding().map(|_| self.stored_length),
        };
        // Writing into memory does not fail.
        let _ = serde_json::to_writer(&mut *out, &shown);
        const EMPTY: &[u8] = b"\"data\":\"\"";
        if is_inline && let Some(at) = memchr::memmem::rfind(out, EMPTY) {
            let rest = out.split_off(at + EMPTY.len() - 1);
            self.write_gap(out);
            out.extend_from_slice(&rest);
        }
    }

    /// Appends a gap for the data.
    pub(crate) fn write_gap(&self, out: &mut Vec<u8>) {
        let is_packed = u8::from(self.encoding == Encoding::Gzip);
        let (blob, stored, length) = (self.blob, self.stored_length, self.length);
        out.push(GAP);
        out.extend_from_slice(format!("{blob} {stored} {length} {is_packed}").as_bytes());
        out.push(GAP);
    }

    fn shown_encoding(&self) -> Option<Encoding> {
        let is_shown = self.show_encoding && self.encoding != Encoding::Identity;
        is_shown.then_some(self.encoding)
    }
}

/// An attachment in `_attachments`, in CouchDB's order.
#[derive(Serialize)]
struct Shown<'a> {
    content_type: &'a str,
    revpos: u64,
    digest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stub: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    follows: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<Encoding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoded_length: Option<u64>,
}

/// The stored form of an attachment in a body: the column `atts` is a JSON array of these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub name: String,
    #[serde(rename = "type")]
    pub content_type: String,
    pub revpos: u64,
    pub md5: [u8; 16],
    pub length: u64,
    #[serde(rename = "stored")]
    pub stored_length: u64,
    pub encoding: Encoding,
    pub blob: i64,
}

impl Record {
    /// The column of a body with these attachments.
    pub fn write_all(records: &[Record]) -> Option<String> {
        (!records.is_empty()).then(|| serde_json::to_string(records).unwrap_or_default())
    }

    /// The attachments of a body.
    pub fn read_all(column: Option<&str>) -> Result<Vec<Record>> {
        let Some(column) = column else {
            return Ok(Vec::new());
        };
        serde_json::from_str(column).map_err(|error| {
            let wrong = rusqlite::types::FromSqlError::Other(Box::new(error));
            rusqlite::Error::from(wrong).into()
        })
    }

    /// The attachment as a stub, without its bytes.
    pub fn into_attachment(self, show_encoding: bool) -> Attachment {
        Attachment {
            name: self.name,
            content_type: self.content_type,
            revpos: self.revpos,
            md5: self.md5,
            length: self.length,
            stored_length: self.stored_length,
            encoding: self.encoding,
            show_encoding,
            content: Content::Stub,
            blob: self.blob,
        }
    }
}
