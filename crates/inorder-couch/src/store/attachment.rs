//! Attachments as they are stored with a revision and read.

use super::{Database, Result};
use bytes::Bytes;

/// How the bytes of an attachment are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// As they were received.
    Identity,
    /// Compressed, as CouchDB does with text, JSON, XML and JavaScript.
    Gzip,
}

/// What of an attachment comes with its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Nothing: `"stub":true`.
    Stub,
    /// All, decoded: `"data"` in base64.
    Inline(Bytes),
    /// It comes after the document, as a part of its own: `"follows":true`.
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
    /// How they are stored.
    pub encoding: Encoding,
    /// Whether `encoding` and `encoded_length` are shown.
    pub show_encoding: bool,
    /// What of it comes with the document.
    pub content: Content,
    /// Where the bytes are.
    pub(crate) blob: i64,
}

impl Attachment {
    /// The digest as CouchDB writes it: `md5-` and base64.
    pub fn digest(&self) -> String {
        todo!()
    }
}

/// Reads an attachment's stored bytes piece by piece; what it reads stays, whatever happens to the document meanwhile.
#[derive(Debug)]
pub struct AttachmentReader {
    pub(crate) database: Database,
}

impl AttachmentReader {
    /// At most `bytes_max` of the *stored* bytes from `offset` on (and at most 1 MiB); empty at the end. Short and bounded.
    ///
    /// # Errors
    /// When SQLite refuses, or the database was closed.
    pub fn read(&self, offset: u64, bytes_max: usize) -> Result<Bytes> {
        todo!("{offset} {bytes_max} {:?}", self.database)
    }

    /// The attachment that is read.
    pub fn attachment(&self) -> &Attachment {
        todo!()
    }
}
