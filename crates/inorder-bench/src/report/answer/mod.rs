//! The sentence that answers an experiment's question.
//!
//! An experiment file may write it as a template with these placeholders:
//!
//! | placeholder | becomes |
//! | --- | --- |
//! | `{value METRIC SELECTOR}` | the median of a cell with its unit, `12.3 us` |
//! | `{ratio METRIC SELECTOR / SELECTOR}` | the first cell over the second, `0.52` |
//! | `{interval METRIC SELECTOR / SELECTOR}` | the 95% interval of that ratio, `0.49 to 0.55` |
//! | `{saved METRIC SELECTOR / SELECTOR}` | one less the ratio, `48%` |
//!
//! `METRIC` is an id of [`crate::metrics::METRICS`]; `SELECTOR` is `factor=level`, several joined by
//! commas, and picks the first cell with all of them. `{{` and `}}` are literal braces. What was not
//! measured reads `n/a`; a time that the noise gate withholds is followed by `(noisy)`.

mod sentence;
mod template;

use crate::results::{Experiment, Run};
use template::Part;

/// A stretch of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Its text.
    pub text: String,
    /// It is a measured number, to be set apart from the words.
    pub is_number: bool,
}

impl Piece {
    fn words(text: impl Into<String>) -> Self {
        Piece {
            text: text.into(),
            is_number: false,
        }
    }

    fn number(text: impl Into<String>) -> Self {
        Piece {
            text: text.into(),
            is_number: true,
        }
    }
}

/// The whole answer as plain text.
pub fn text(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| piece.text.as_str()).collect()
}

/// Checks a template against the factors of its experiment, each with its levels (varied or fixed).
///
/// # Errors
/// A sentence that says what is wrong, at which character, and what would be right.
pub fn check(template: &str, factors: &[(&str, Vec<&str>)]) -> Result<(), String> {
    template::parse(template)?
        .iter()
        .try_for_each(|part| match part {
            Part::Text(_) => Ok(()),
            Part::Number(placeholder) => placeholder.check(factors),
        })
}

/// The answer with its numbers: from the experiment's template, or the default sentence.
///
/// `is_noisy` says that the noise gate withholds times.
///
/// # Errors
/// When the template cannot be read.
pub fn fill(run: &Run, experiment: &Experiment, is_noisy: bool) -> Result<Vec<Piece>, String> {
    let template = experiment.answer.trim();
    if template.is_empty() {
        return Ok(sentence::default(run, experiment, is_noisy));
    }
    Ok(template::parse(template)?
        .into_iter()
        .map(|part| match part {
            Part::Text(text) => Piece::words(text),
            Part::Number(placeholder) => Piece::number(placeholder.fill(run, experiment, is_noisy)),
        })
        .collect())
}

/// What follows a number of time where the noise gate withholds times.
fn noisy_mark(is_noisy: bool, metric: &crate::analysis::Metric) -> &'static str {
    if is_noisy && metric.is_time {
        " (noisy)"
    } else {
        ""
    }
}
