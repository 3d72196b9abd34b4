//! What became of an edit.

use crate::revision::Revision;

/// What became of an edit that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The document.
    pub id: String,
    /// Its new revision.
    pub revision: Revision,
}

/// Why one edit of many was refused; the others are not touched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It was not made from a current revision.
    #[error("Document update conflict.")]
    Conflict,
    /// The validation function said `{forbidden: ...}`.
    #[error("{0}")]
    Forbidden(String),
    /// The validation function said `{unauthorized: ...}`.
    #[error("{0}")]
    Unauthorized(String),
    /// A stub names an attachment that the revision before does not have.
    #[error("Invalid attachment stub in {id} for {name}")]
    MissingStub {
        /// The document.
        id: String,
        /// The attachment.
        name: String,
    },
    /// The id is none for a document.
    #[error("{0}")]
    IllegalId(&'static str),
    /// Two attachments with one name, or one whose bytes never came.
    #[error("{0}")]
    BadRequest(String),
    /// The validation function can't be compiled, or threw something else. A server's fault, not the client's.
    #[error("{0}")]
    Failed(String),
    /// The validation function was stopped: it took too long.
    #[error("{0}")]
    Stopped(String),
    /// All script hosts were busy. A later attempt may succeed.
    #[error("{0}")]
    Busy(String),
}

/// What became of one edit.
pub type Outcome = Result<Written, Refusal>;

/// What an edit says of its revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// What it was made from.
    New,
    /// What it is, made elsewhere.
    Replicated,
}
