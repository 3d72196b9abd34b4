//! What goes wrong in a replication.

/// Why a replication did not come to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplicateError {
    /// The request.
    #[error("{0}")]
    BadRequest(String),
    /// The other side can't be reached, or hung up.
    #[error("{url}: {reason}")]
    Unreachable {
        /// Without a password.
        url: String,
        /// What happened.
        reason: String,
    },
    /// The other side answered with an error.
    #[error("{url}: {status} {error}: {reason}")]
    Refused {
        /// Without a password.
        url: String,
        /// The status.
        status: u16,
        /// CouchDB's `error`.
        error: String,
        /// CouchDB's `reason`.
        reason: String,
    },
    /// The other side's answer can't be understood.
    #[error("{url}: the answer is not CouchDB's: {reason}")]
    BadAnswer {
        /// Without a password.
        url: String,
        /// What was wrong with it.
        reason: String,
    },
    /// An answer is larger than is taken.
    #[error("{url}: the answer is too large")]
    TooLarge {
        /// Without a password.
        url: String,
    },
    /// There is no such replication.
    #[error("no such replication runs")]
    NoSuch,
    /// The same runs already.
    #[error("the replication {0} runs already")]
    Running(String),
    /// It was ended from outside.
    #[error("the replication was cancelled")]
    Cancelled,
}

impl ReplicateError {
    /// Whether the same may work a little later.
    pub fn is_transient(&self) -> bool {
        match self {
            ReplicateError::Unreachable { .. } => true,
            ReplicateError::Refused { status, .. } => {
                matches!(status, 408 | 429 | 500..=599) && *status != 501
            }
            _ => false,
        }
    }

    /// Whether the other side answered with this status.
    pub fn is_status(&self, expected: u16) -> bool {
        matches!(self, ReplicateError::Refused { status, .. } if *status == expected)
    }
}
