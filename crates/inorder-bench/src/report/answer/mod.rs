//! The sentence that answers an experiment's question.
//!
//! Where keys are ranked, it is what is recommended. An experiment file may write it as a template ([`crate::experiment::template`]). What was not measured reads `n/a`;
//! a time that the noise gate withholds is followed by `(noisy)`.

mod number;
mod piece;
mod sentence;

pub use piece::Piece;

use super::ranking::rankings;
use crate::{
    experiment::template::{self, Part},
    results::{Experiment, Run},
};

/// The whole answer as plain text.
pub fn text(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| piece.text.as_str()).collect()
}

/// The answer with its numbers: from the experiment's template, or what the rankings recommend, or the default sentence.
///
/// `is_noisy` says that the noise gate withholds times.
///
/// # Errors
/// If the template cannot be read.
pub fn fill(run: &Run, experiment: &Experiment, is_noisy: bool) -> Result<Vec<Piece>, String> {
    let template = experiment.answer.trim();
    if template.is_empty() {
        let rankings = rankings(run, experiment, is_noisy);
        if rankings.is_empty() {
            return Ok(sentence::default(run, experiment, is_noisy));
        }
        let mut pieces = Vec::new();
        for ranking in &rankings {
            let said = &ranking.recommendation;
            let space = if pieces.is_empty() { "" } else { " " };
            pieces.push(Piece::words(format!("{space}{}", said.before)));
            pieces.push(Piece::number(said.number.clone()));
            pieces.push(Piece::words(said.after.clone()));
        }
        pieces.retain(|piece| !piece.text.is_empty());
        return Ok(pieces);
    }
    let piece = |part| {
        Ok(match part {
            Part::Text(text) => Piece::words(text),
            Part::Number(place) => Piece::number(number::fill(&place, run, experiment, is_noisy)?),
        })
    };
    template::parse(template)?.into_iter().map(piece).collect()
}
