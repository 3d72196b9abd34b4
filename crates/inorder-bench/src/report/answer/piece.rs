//! Pieces of an answer.

use crate::metrics::Metric;

/// A stretch of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Its text.
    pub text: String,
    /// It is a measured number, to be set apart from the words.
    pub is_number: bool,
    /// The trials of each cell, or pairs of trials, that a number rests on.
    pub rests_on: Option<RestsOn>,
}

/// What a number of an answer rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestsOn {
    /// A ratio: so many pairs of trials.
    Pairs(usize),
    /// A median: so many trials.
    Trials(usize),
}

impl Piece {
    pub(super) fn words(text: impl Into<String>) -> Self {
        Piece {
            text: text.into(),
            is_number: false,
            rests_on: None,
        }
    }

    pub(super) fn number(text: impl Into<String>, rests_on: Option<RestsOn>) -> Self {
        Piece {
            text: text.into(),
            is_number: true,
            rests_on,
        }
    }
}

/// The words about numbers that rest on one pair of trials, or on one trial.
fn of_one(pieces: &[Piece]) -> Option<&'static str> {
    let rests = |on| pieces.iter().any(|piece| piece.rests_on == Some(on));
    if rests(RestsOn::Pairs(1)) {
        return Some("one pair of trials");
    }
    rests(RestsOn::Trials(1)).then_some("one trial of each cell")
}

/// Ends a sentence with what it rests on, where that is one pair or one trial: it has no interval.
pub(super) fn close(pieces: &mut Vec<Piece>) {
    let (Some(words), Some(last)) = (of_one(pieces), pieces.last_mut()) else {
        return;
    };
    let is_closed = last.text.ends_with('.') && !last.is_number;
    if is_closed {
        last.text.pop();
    }
    let end = if is_closed { "." } else { "" };
    pieces.push(Piece::words(format!(" (from {words}){end}")));
}

/// The mark of a number of time that the noise gate withholds.
pub(super) fn noisy_mark(is_noisy: bool, metric: &Metric) -> &'static str {
    if is_noisy && metric.is_time {
        " (noisy)"
    } else {
        ""
    }
}
