//! A published claim, and what a run says about it.

use super::{deviation, post::Post};
use crate::{
    analysis::is_noisy,
    results::{Run, left_out},
    statistics::Ratio,
};
use std::collections::BTreeSet;

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The claim holds here.
    Holds,
    /// It does not.
    DoesNot,
    /// It depends on something, named in the reason.
    Depends,
    /// The trials are not conclusive: the interval includes both outcomes, the machine was too noisy for times, or
    /// repetitions are missing.
    Inconclusive,
    /// The run's settings aren't the published ones, as named in the reason.
    SettingsDiffer,
    /// Another engine is needed, named in the reason.
    NeedsEngine,
    /// The run has no trials that answer it.
    NotRun,
}

impl Verdict {
    /// The word shown to a person.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::DoesNot => "does not hold",
            Verdict::Depends => "depends",
            Verdict::Inconclusive => "inconclusive",
            Verdict::SettingsDiffer => "settings differ",
            Verdict::NeedsEngine => "needs another engine",
            Verdict::NotRun => "not run",
        }
    }
}

/// A published claim.
#[derive(Clone, Copy)]
pub struct Claim {
    /// Its id, such as `W1`.
    pub id: &'static str,
    /// The post that published it.
    pub post: &'static Post,
    /// The claim in one sentence.
    pub statement: &'static str,
    /// The post's own figure.
    pub figure: &'static str,
    /// The experiment that answers it.
    pub experiment: &'static str,
    /// Judges a run on an engine.
    pub judge: fn(On<'_>) -> Judgement,
    /// Whether it is asked of every engine, not only of the post's.
    pub is_asked_everywhere: bool,
    /// Whether it says something about time, which takes more repetitions than bytes do.
    pub is_on_time: bool,
}

/// The engine of the posts, where they name none.
pub(super) const PUBLISHED_ON: &str = "sqlite";

/// A run, and the engine that is asked about.
#[derive(Clone, Copy)]
pub struct On<'a> {
    /// The run.
    pub run: &'a Run,
    /// The engine's name.
    pub engine: &'a str,
    /// Whether the claim says something about time.
    pub is_on_time: bool,
}

impl Claim {
    /// A claim of a post, answered by the experiment of the post's name.
    pub(super) const fn new(
        post: &'static Post,
        id: &'static str,
        statement: &'static str,
        figure: &'static str,
        judge: fn(On<'_>) -> Judgement,
    ) -> Self {
        Claim {
            id,
            post,
            statement,
            figure,
            experiment: post.name,
            judge,
            is_asked_everywhere: false,
            is_on_time: false,
        }
    }

    /// The same claim, which says something about time.
    pub(super) const fn on_time(self) -> Self {
        Claim {
            is_on_time: true,
            ..self
        }
    }

    /// The same claim, asked of every engine that a run has.
    pub(super) const fn on_every_engine(self) -> Self {
        Claim {
            is_asked_everywhere: true,
            ..self
        }
    }

    /// Judges a run on the engine of the post.
    pub fn judgement(&self, run: &Run) -> Judgement {
        self.judged(run, PUBLISHED_ON)
    }

    /// Judges a run on an engine; there is no verdict where its settings deviate from the published ones.
    fn judged(&self, run: &Run, engine: &str) -> Judgement {
        let judgement = (self.judge)(On {
            run,
            engine,
            is_on_time: self.is_on_time,
        });
        if matches!(judgement.verdict, Verdict::NotRun | Verdict::NeedsEngine) {
            return judgement;
        }
        match deviation::difference(run, self.experiment, engine) {
            Some(reason) => Judgement {
                verdict: Verdict::SettingsDiffer,
                reason,
                parts: Vec::new(),
                ..judgement
            },
            None => self.with_missing_repetitions(run, judgement),
        }
    }

    /// Names the repetitions that a time budget left out as the reason of an inconclusive judgement: the command beside
    /// them gives a verdict. On a busy machine it gives one on bytes only, which need two repetitions.
    fn with_missing_repetitions(&self, run: &Run, judgement: Judgement) -> Judgement {
        let is_open = judgement.verdict == Verdict::Inconclusive;
        let would_help = |left: &left_out::LeftOut| {
            left.repetitions_run < 2 || is_noisy(run, self.experiment).is_none()
        };
        match left_out::of_experiment(run, self.experiment).filter(would_help) {
            Some(left) if is_open => Judgement {
                reason: left.reason(),
                ..judgement
            },
            _ => judgement,
        }
    }

    /// Judges a run on its other engines, independently of the published one.
    pub fn elsewhere(&self, run: &Run) -> Vec<(String, Judgement)> {
        if !self.is_asked_everywhere {
            return Vec::new();
        }
        let cells = run
            .cells
            .iter()
            .filter(|cell| cell.experiment == self.experiment);
        let engines: BTreeSet<&String> =
            cells.filter_map(|cell| cell.levels.get("engine")).collect();
        let others = engines.into_iter().filter(|engine| *engine != PUBLISHED_ON);
        let judged = others.map(|engine| (engine.clone(), self.judged(run, engine)));
        judged
            .filter(|(_, judgement)| judgement.verdict != Verdict::NotRun)
            .collect()
    }

    /// The same claim, answered by another experiment.
    pub(super) const fn answered_by(self, experiment: &'static str) -> Self {
        Claim { experiment, ..self }
    }
}

/// The judgement of a claim by a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The measured values, with units.
    pub seen: String,
    /// The ratio it rests on, where it rests on one.
    pub ratio: Option<Ratio>,
    /// That ratio as it was published.
    pub published: Option<f64>,
    /// Why: the condition it depends on, the noise, the engine it needs; may be empty.
    pub reason: String,
    /// The parts of a claim with several statements, such as one about sizes and one about times.
    pub parts: Vec<Part>,
}

/// One of several things that a claim says.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The subject, such as `size` or `time`.
    pub name: &'static str,
    /// Its own verdict.
    pub verdict: Verdict,
    /// The ratio it rests on.
    pub ratio: Option<Ratio>,
    /// Why.
    pub reason: String,
}

impl Judgement {
    /// Formats the verdict, part by part if the parts differ: `size holds, time inconclusive`.
    pub fn verdict_text(&self) -> String {
        if self.parts.iter().all(|part| part.verdict == self.verdict) {
            return self.verdict.name().to_owned();
        }
        let of_part = |part: &Part| format!("{} {}", part.name, part.verdict.name());
        let words: Vec<String> = self.parts.iter().map(of_part).collect();
        words.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{claims::evidence, results::Cell};

    fn says_its_engine(on: On<'_>) -> Judgement {
        evidence::plain(on.engine != "mariadb", on.engine.to_owned())
    }

    #[test]
    fn other_engines_answer_beside_the_published_one() {
        let claim = Claim::new(
            &crate::claims::presort::POST,
            "X1",
            "…",
            "…",
            says_its_engine,
        );
        let cell = |engine: &str| Cell {
            experiment: "presort".to_owned(),
            levels: [("engine".to_owned(), engine.to_owned())].into(),
            ..Cell::default()
        };
        let run = Run {
            cells: ["postgres", "sqlite", "mariadb", "postgres"]
                .map(cell)
                .into(),
            ..Run::default()
        };
        assert_eq!(claim.judgement(&run).seen, "sqlite");
        assert_eq!(claim.elsewhere(&run), []);
        let elsewhere = claim.on_every_engine().elsewhere(&run);
        let seen: Vec<_> = elsewhere
            .iter()
            .map(|(engine, j)| (engine.as_str(), j.verdict))
            .collect();
        assert_eq!(
            seen,
            [("mariadb", Verdict::DoesNot), ("postgres", Verdict::Holds)]
        );
        // The verdict on what was published is its own.
        assert_eq!(
            claim.on_every_engine().judgement(&run).verdict,
            Verdict::Holds
        );
    }
}
