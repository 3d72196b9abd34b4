//! Errors of replications.

/// The reason why a replication failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ReplicateError {
    /// The request is invalid.
    #[error("{0}")]
    BadRequest(String),
    /// An endpoint has an invalid URL.
    #[error("endpoint has an invalid url")]
    BadUrl,
    /// The request is invalid; CouchDB's error for it has the name `error`.
    #[error("{0}")]
    Invalid(String),
    /// The code of a filter function can't be read.
    #[error("{0}")]
    Filter(String),
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
    /// The peer has no such database.
    #[error("could not open {0}")]
    NoDatabase(String),
    /// The peer refuses the credentials.
    #[error("unauthorized to access or create database {0}")]
    Unauthorized(String),
    /// The user has no right to the database.
    #[error("{0}")]
    Forbidden(String),
    /// The peer's answer is not valid.
    #[error("{url}: the answer is not CouchDB's: {reason}")]
    BadAnswer {
        /// The peer's URL without a password.
        url: String,
        /// The fault of the answer.
        reason: String,
    },
    /// The source does not return a revision that its changes feed lists.
    #[error(
        "{url}: revision {rev} of the document `{id}` is in the changes feed, but cannot be read"
    )]
    Absent {
        /// The source's URL without a password.
        url: String,
        /// The document's id.
        id: String,
        /// The revision.
        rev: String,
    },
    /// An answer exceeds the size limit.
    #[error("{url}: the answer is too large")]
    TooLarge {
        /// The peer's URL without a password.
        url: String,
    },
    /// A checkpoint can't be written.
    #[error("{0}")]
    Checkpoint(String),
    /// The filter function has changed, so the replication has another id.
    #[error("the filter function has changed")]
    FilterChanged,
    /// The job belongs to another user.
    #[error("You are not a server admin.")]
    NotAdmin,
    /// There is no such replication.
    #[error("missing")]
    NoSuch,
    /// The replication panicked. Its job would otherwise be shown as running for ever.
    #[error("the replication ended with an internal error, which is in the server's log")]
    Panicked,
    /// The replication was stopped.
    #[error("the replication was stopped")]
    Stopped,
}

impl ReplicateError {
    /// CouchDB's name of the error.
    pub fn name(&self) -> &'static str {
        match self {
            ReplicateError::BadRequest(_) => "bad_request",
            ReplicateError::BadUrl => "invalid_replication",
            ReplicateError::Filter(_) | ReplicateError::NoSuch => "not_found",
            ReplicateError::NoDatabase(_) => "db_not_found",
            ReplicateError::Unauthorized(_) | ReplicateError::NotAdmin => "unauthorized",
            ReplicateError::Forbidden(_) => "forbidden",
            ReplicateError::Checkpoint(_) => "checkpoint_commit_failure",
            _ => "error",
        }
    }

    /// The reason in the history of a job and in a document: the name only where it adds something.
    pub fn reason(&self) -> String {
        match self.name() {
            "error" | "bad_request" | "invalid_replication" | "not_found" => self.to_string(),
            name => format!("{name}: {self}"),
        }
    }

    /// Whether a later retry may succeed.
    pub fn is_transient(&self) -> bool {
        match self {
            ReplicateError::Unreachable { .. } | ReplicateError::Absent { .. } => true,
            ReplicateError::Refused { status, .. } => {
                matches!(status, 408 | 429 | 500..=599) && *status != 501
            }
            _ => false,
        }
    }

    /// Whether the peer redirected the request. Redirects are not followed.
    pub fn is_redirect(&self) -> bool {
        matches!(self, ReplicateError::Refused { status, .. } if matches!(status, 300..=399))
    }

    /// Whether the peer answered with this status.
    pub fn is_status(&self, expected: u16) -> bool {
        matches!(self, ReplicateError::Refused { status, .. } if *status == expected)
    }
}
