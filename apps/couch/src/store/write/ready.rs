//! Edits that need nothing but the database to be written.

use crate::revision::{History, Term};
use crate::store::StoredContent;
use crate::store::encoder::Encoded;

/// The bytes of an attachment, ready to be written.
#[derive(Debug)]
pub enum ReadyContent {
    /// The attachments of the parent.
    Stub { revpos: Option<u64> },
    /// To be stored along.
    Encoded {
        encoded: Box<Encoded>,
        revpos: Option<u64>,
    },
    /// Stored already.
    Stored {
        content: StoredContent,
        revpos: Option<u64>,
    },
}

/// An attachment, ready to be written.
#[derive(Debug)]
pub struct ReadyAttachment {
    pub name: String,
    pub content_type: String,
    pub content: ReadyContent,
}

/// An edit, ready to be written.
#[derive(Debug)]
pub struct Ready {
    pub id: String,
    pub history: Option<History>,
    pub deleted: bool,
    pub body: String,
    pub term: Term,
    pub attachments: Vec<ReadyAttachment>,
}

impl Ready {
    /// Whether it leaves attachments as they were.
    pub fn has_stubs(&self) -> bool {
        let is_stub = |it: &ReadyAttachment| matches!(it.content, ReadyContent::Stub { .. });
        self.attachments.iter().any(is_stub)
    }
}
