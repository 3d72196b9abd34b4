//! Errors of replications.

/// The reason why a replication failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplicateError {
    /// The request is invalid.
    #[error("{0}")]
    BadRequest(String),
    /// The peer can't be reached, or closed the connection.
    #[error("{url}: {reason}")]
    Unreachable {
        /// The peer's URL without a password.
        url: String,
        /// The error of the HTTP client.
        reason: String,
    },
    /// The peer answered with an error.
    #[error("{url}: {status} {error}: {reason}")]
    Refused {
        /// The peer's URL without a password.
        url: String,
        /// The HTTP status.
        status: u16,
        /// CouchDB's `error`.
        error: String,
        /// CouchDB's `reason`.
        reason: String,
    },
    /// The peer's answer is not valid.
    #[error("{url}: the answer is not CouchDB's: {reason}")]
    BadAnswer {
        /// The peer's URL without a password.
        url: String,
        /// The fault of the answer.
        reason: String,
    },
    /// An answer exceeds the size limit.
    #[error("{url}: the answer is too large")]
    TooLarge {
        /// The peer's URL without a password.
        url: String,
    },
    /// There is no such replication.
    #[error("no such replication runs")]
    NoSuch,
    /// The same replication already runs.
    #[error("the replication {0} runs already")]
    Running(String),
    /// The replication was cancelled.
    #[error("the replication was cancelled")]
    Cancelled,
}

impl ReplicateError {
    /// Whether a later retry may succeed.
    pub fn is_transient(&self) -> bool {
        match self {
            ReplicateError::Unreachable { .. } => true,
            ReplicateError::Refused { status, .. } => {
                matches!(status, 408 | 429 | 500..=599) && *status != 501
            }
            _ => false,
        }
    }

    /// Whether the peer answered with this status.
    pub fn is_status(&self, expected: u16) -> bool {
        matches!(self, ReplicateError::Refused { status, .. } if *status == expected)
    }
}
