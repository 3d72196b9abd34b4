//! The results of edits.

use crate::revision::Revision;

/// The result of an accepted edit.
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
    /// The members of a design document have wrong types.
    #[error("{0}")]
    InvalidDesign(String),
    /// A function of a design document's views can't be compiled.
    #[error("{0}")]
    Uncompiled(String),
    /// The partition of this document has its limit of bytes.
    #[error("Partition limit exceeded due to update on '{0}'")]
    PartitionFull(String),
    /// An attachment is larger than the [`Limits`](super::Limits) allow.
    #[error("{0}")]
    TooLarge(String),
    /// Two attachments with one name, or one whose bytes never came.
    #[error("{0}")]
    BadRequest(String),
    /// The validation function can't be compiled. A server's fault, not the client's.
    #[error("{0}")]
    Failed(String),
    /// The validation function threw something else.
    #[error("{reason}")]
    Thrown {
        /// The name of the error.
        name: String,
        /// Its message.
        reason: String,
    },
    /// The validation function was stopped: it took too long.
    #[error("{0}")]
    Stopped(String),
    /// All script hosts were busy. A later attempt may succeed.
    #[error("{0}")]
    Busy(String),
}

/// The result of an edit.
pub type Outcome = Result<Written, Refusal>;

/// The meaning of an edit's revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The revision is the parent of the new one.
    New,
    /// The revision is the new one, made by another server.
    Replicated,
}
