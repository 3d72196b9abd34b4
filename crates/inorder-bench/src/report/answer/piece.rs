//! Pieces of an answer.

use crate::metrics::Metric;

/// A stretch of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Its text.
    pub text: String,
    /// It is a measured number, to be set apart from the words.
    pub is_number: bool,
}

impl Piece {
    pub(super) fn words(text: impl Into<String>) -> Self {
        Piece {
            text: text.into(),
            is_number: false,
        }
    }

    pub(super) fn number(text: impl Into<String>) -> Self {
        Piece {
            text: text.into(),
            is_number: true,
        }
    }
}

/// The mark of a number of time that the noise gate withholds.
pub(super) fn noisy_mark(is_noisy: bool, metric: &Metric) -> &'static str {
    if is_noisy && metric.is_time {
        " (noisy)"
    } else {
        ""
    }
}
