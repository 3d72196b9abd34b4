//! The errors of this crate.

/// Why there is no prediction.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The question has no answer.
    #[error("{0}")]
    Unanswerable(String),
}
