//! The sentence that answers an experiment's question.
//!
//! Where keys are ranked, it is what is recommended. An experiment file may write it as a template ([`crate::experiment::template`]), which
//! counts where the run has all its cells. What was not measured reads `n/a`;
//! a time that the noise gate withholds is followed by `(noisy)`. The end says how ids were stored.

mod number;
mod piece;
mod sentence;
mod stored;

pub use piece::{Piece, RestsOn};

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
    let mut pieces = open(run, experiment, is_noisy)?;
    piece::close(&mut pieces);
    pieces.extend(stored::sentence(run, experiment).map(Piece::words));
    Ok(pieces)
}

/// The answer without what it rests on.
fn open(run: &Run, experiment: &Experiment, is_noisy: bool) -> Result<Vec<Piece>, String> {
    let parts = template::parse(experiment.answer.trim())?;
    let is_planned = |part: &Part| match part {
        Part::Text(_) => true,
        Part::Number(place) => number::is_planned(place, run, experiment),
    };
    // Where an engine can't store what the sentence is about, another one answers.
    if parts.is_empty() || !parts.iter().all(is_planned) {
        let rankings = rankings(run, experiment, is_noisy);
        if rankings.is_empty() {
            return Ok(sentence::default(run, experiment, is_noisy));
        }
        let mut pieces = Vec::new();
        for ranking in &rankings {
            let said = &ranking.recommendation;
            let space = if pieces.is_empty() { "" } else { " " };
            pieces.push(Piece::words(format!("{space}{}", said.before)));
            let rests_on = said.pairs.map(RestsOn::Pairs);
            pieces.push(Piece::number(said.number.clone(), rests_on));
            pieces.push(Piece::words(said.after.clone()));
        }
        pieces.retain(|piece| !piece.text.is_empty());
        return Ok(pieces);
    }
    let piece = |part| {
        Ok(match part {
            Part::Text(text) => Piece::words(text),
            Part::Number(place) => number::fill(&place, run, experiment, is_noisy)?,
        })
    };
    parts.into_iter().map(piece).collect()
}
