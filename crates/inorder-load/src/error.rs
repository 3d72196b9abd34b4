//! What can go wrong between a source and a batch.

/// Errors of this crate. Each message says what was wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A column cannot be filled as asked.
    #[error("a column cannot be filled: {what}; {remedy}")]
    Fill {
        /// What is wrong.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
}
