//! A document as it is received.

use super::{Encoding, Limits, Result, StoredContent};
use crate::revision::{History, Term};

/// The bytes of an attachment that comes with an edit.
#[derive(Clone, Debug)]
pub enum NewContent {
    /// Those that the revision before it has under the same name.
    Stub {
        /// The generation they came with; checked when given.
        revpos: Option<u64>,
        /// MD5 of the stored bytes, for information.
        md5: Option<[u8; 16]>,
    },
    /// Given in the JSON, decoded.
    Inline(Vec<u8>),
    /// They come after the JSON, as a part of a multipart body: whoever reads it uploads them and puts
    /// [`NewContent::Stored`] in the place. An edit that still has this is refused.
    Follows {
        /// Bytes that follow, as announced.
        length: Option<u64>,
        /// How they are encoded.
        encoding: Encoding,
        /// MD5 of the bytes as they follow, checked when given.
        md5: Option<[u8; 16]>,
        /// The generation they came with.
        revpos: Option<u64>,
    },
    /// Uploaded already.
    Stored {
        /// The bytes.
        content: StoredContent,
        /// The generation they came with, in a replicated edit; otherwise that of the edit.
        revpos: Option<u64>,
    },
}

/// An attachment that comes with an edit.
#[derive(Clone, Debug)]
pub struct NewAttachment {
    /// Its name.
    pub name: String,
    /// Its media type.
    pub content_type: String,
    /// Its bytes.
    pub content: NewContent,
}

/// An edit of a document: what is to become its next revision, or, replicated, a revision made elsewhere.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The document; without one a new id is made.
    pub id: Option<String>,
    /// A new edit's parent revision (its newest is what `_rev` says), or the way to a replicated edit's revision; none for
    /// a new document.
    pub history: Option<History>,
    /// Whether it deletes.
    pub deleted: bool,
    /// The attachments it is to have; those not listed are gone.
    pub attachments: Vec<NewAttachment>,
    /// The body, as in [`Document`](super::Document).
    pub(crate) body: String,
    /// The same for the revision's hash.
    pub(crate) term: Term,
}

impl Edit {
    /// Reads a document as clients send it: a JSON object whose members with an underscore are taken out. Members that only
    /// a server says (`_conflicts`, `_revs_info`, `_local_seq`, `_deleted_conflicts`) are ignored; of members given twice the
    /// last counts.
    ///
    /// # Errors
    /// When it is no JSON object, is larger or deeper than the limits, has an unknown member with an underscore, or one of
    /// the wrong type.
    pub fn from_json(json: &str, limits: &Limits) -> Result<Edit> {
        todo!("{json} {limits:?}")
    }

    /// An edit that deletes a document from this revision on.
    pub fn deletion(id: impl Into<String>, parent: crate::revision::Revision) -> Edit {
        todo!("{} {parent}", id.into())
    }

    /// The edit that keeps a document as it was read, attachments as stubs: to change some attachments and nothing else.
    pub fn of(document: &super::Document) -> Edit {
        todo!("{}", document.id)
    }

    /// Gives it an attachment, first in the order as CouchDB has it, in the place of the one with the same name.
    pub fn attach(&mut self, attachment: NewAttachment) {
        self.attachments
            .retain(|other| other.name != attachment.name);
        self.attachments.insert(0, attachment);
    }

    /// The body, as in [`Document`](super::Document).
    pub fn body(&self) -> &str {
        &self.body
    }
}
