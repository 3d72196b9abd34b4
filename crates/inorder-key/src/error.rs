//! What can go wrong with a key.

use crate::{Encoding, KeyKind};

/// What can go wrong when keys are made or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The kind of key cannot be stored in this encoding.
    #[error(
        "a {} key cannot be stored as {}: choose {}",
        kind.name(),
        encoding.name(),
        names(kind.encodings())
    )]
    Encoding {
        /// The kind asked for.
        kind: KeyKind,
        /// The encoding asked for.
        encoding: Encoding,
    },
    /// The system gave no random bytes.
    #[error("the system gave no random bytes: {0}")]
    Entropy(#[from] getrandom::Error),
    /// Every id of the last millisecond there is has been given out.
    #[error("no id is left that follows the last one")]
    Exhausted,
}

/// The names of encodings as a sentence lists them.
fn names(encodings: &[Encoding]) -> String {
    let names: Vec<_> = encodings.iter().map(|e| e.name()).collect();
    names.join(" or ")
}
