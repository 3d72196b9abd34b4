//! What the judges of claims have in common: cells by their levels, ratios in pairs, and the rules
//! that turn a ratio into a verdict.

use super::{Judgement, On, PUBLISHED_ON, Verdict};
use crate::{
    analysis::{Ratio, is_noisy, median, ratio_of},
    metrics::metric_named,
    report::format::{percent, ratio_with_interval},
    results::{Cell, Run, Trial},
};

/// Share of the published effect (in logarithms) from which a claim holds.
const EFFECT_HOLDS: f64 = 0.5;
/// Share of it below which nothing of the claim is left.
const EFFECT_GONE: f64 = 0.15;
/// How far two times may part and still be called the same.
pub(super) const SAME_TIME: f64 = 0.10;
/// How far two sizes or volumes may part and still be called the same.
pub(super) const SAME_BYTES: f64 = 0.03;

/// Levels of varied factors.
pub(super) type Levels<'a> = &'a [(&'a str, &'a str)];

/// The trials of one experiment.
pub(super) struct Evidence<'a> {
    /// The run.
    pub run: &'a Run,
    /// The engine that is spoken of, where levels name none.
    engine: &'a str,
    /// The experiment's name.
    pub experiment: &'static str,
}

impl<'a> Evidence<'a> {
    /// The trials of an experiment of a run.
    pub fn new(on: On<'a>, experiment: &'static str) -> Self {
        Evidence {
            run: on.run,
            engine: on.engine,
            experiment,
        }
    }

    /// Whether it speaks of the engine that the posts do.
    pub fn is_published(&self) -> bool {
        self.engine == PUBLISHED_ON
    }

    /// The cell with these levels.
    pub fn cell(&self, levels: Levels<'_>) -> Option<&'a Cell> {
        let names_engine = levels.iter().any(|(factor, _)| *factor == "engine");
        let is_of_engine = |cell: &&Cell| {
            let engine = cell.levels.get("engine");
            names_engine || engine.is_none_or(|engine| engine == self.engine)
        };
        let mut cells = self.run.find_cells(self.experiment, levels).into_iter();
        cells.find(is_of_engine)
    }

    /// The finished trials of the cell with these levels.
    pub fn trials(&self, levels: Levels<'_>) -> Vec<&'a Trial> {
        self.cell(levels)
            .map_or_else(Vec::new, |cell| self.run.trials_of(cell.id))
    }

    /// The levels of a varied factor, in file order.
    pub fn levels(&self, factor: &str) -> Vec<&'a str> {
        self.run
            .experiment(self.experiment)
            .and_then(|e| {
                let at = e.varied.iter().position(|name| name == factor)?;
                Some(e.levels[at].iter().map(String::as_str).collect())
            })
            .unwrap_or_default()
    }

    /// Median of a metric in a cell.
    pub fn value(&self, metric: &str, levels: Levels<'_>) -> Option<f64> {
        let metric = metric_named(metric)?;
        median(self.trials(levels).into_iter().filter_map(metric.of))
    }

    /// Ratio of a metric, A over B.
    pub fn ratio(&self, metric: &str, a: Levels<'_>, b: Levels<'_>) -> Option<Ratio> {
        let metric = metric_named(metric)?;
        self.ratio_by(metric.of, a, b)
    }

    /// Ratio of any number of a trial, A over B, in pairs by repetition.
    pub fn ratio_by(
        &self,
        of: impl Fn(&Trial) -> Option<f64>,
        a: Levels<'_>,
        b: Levels<'_>,
    ) -> Option<Ratio> {
        let b = self.trials(b);
        let pairs: Vec<(f64, f64)> = self
            .trials(a)
            .iter()
            .filter_map(|trial| {
                let other = b
                    .iter()
                    .find(|other| other.repetition == trial.repetition)?;
                Some((of(trial)?, of(other)?))
            })
            .collect();
        ratio_of(&pairs)
    }

    /// A verdict that rests on times, withheld where the machine was too noisy for one.
    pub fn unless_noisy(&self, judgement: Judgement) -> Judgement {
        match is_noisy(self.run, self.experiment) {
            Some(_) if judgement.verdict != Verdict::NotRun => Judgement {
                verdict: Verdict::Withheld,
                // How busy is said once, beside the experiment's own tables.
                reason: "the machine was busy".to_owned(),
                ..judgement
            },
            _ => judgement,
        }
    }
}

/// No trials answer the claim.
pub(super) fn not_run() -> Judgement {
    Judgement {
        verdict: Verdict::NotRun,
        seen: String::new(),
        ratio: None,
        reason: String::new(),
    }
}

/// The claim speaks of another engine.
pub(super) fn needs(engine: &str) -> Judgement {
    Judgement {
        verdict: Verdict::NeedsEngine,
        seen: String::new(),
        ratio: None,
        reason: format!("needs {engine}"),
    }
}

/// Judges "A costs `claimed` times B" by the share of the published effect that is seen here: half
/// of it holds, next to nothing doesn't, what is between depends.
pub(super) fn judge_effect(ratio: Option<Ratio>, claimed: f64, what: &str) -> Judgement {
    judge_ratio(ratio, what, |seen| match seen.ln() / claimed.ln() {
        EFFECT_HOLDS.. => Verdict::Holds,
        EFFECT_GONE.. => Verdict::Depends,
        _ => Verdict::DoesNot,
    })
}

/// Judges "A costs as much as B".
pub(super) fn judge_same(ratio: Option<Ratio>, tolerance: f64, what: &str) -> Judgement {
    judge_ratio(ratio, what, |seen| {
        if seen.ln().abs() <= tolerance.ln_1p() {
            Verdict::Holds
        } else {
            Verdict::DoesNot
        }
    })
}

/// Judges a ratio by a rule. Where the rule says different things at the ends of the interval, the
/// verdict is withheld.
pub(super) fn judge_ratio(
    ratio: Option<Ratio>,
    what: &str,
    rule: impl Fn(f64) -> Verdict,
) -> Judgement {
    let Some(ratio) = ratio else {
        return not_run();
    };
    let verdict = rule(ratio.ratio);
    let is_certain = rule(ratio.low) == verdict && rule(ratio.high) == verdict;
    Judgement {
        verdict: if is_certain {
            verdict
        } else {
            Verdict::Withheld
        },
        seen: format!("{what} {}", ratio_with_interval(&ratio)),
        ratio: Some(ratio),
        reason: match (is_certain, verdict) {
            (false, _) => "the interval reaches over the bound of the verdict".to_owned(),
            (true, Verdict::Depends) => {
                "the same direction, but less than half of the effect".to_owned()
            }
            _ => String::new(),
        },
    }
}

/// Several judgements of one claim together: it holds where all hold, and doesn't where none does.
pub(super) fn all(judgements: Vec<Judgement>) -> Judgement {
    if judgements.iter().any(|j| j.verdict == Verdict::NotRun) {
        return not_run();
    }
    let count = |verdict| judgements.iter().filter(|j| j.verdict == verdict).count();
    let verdict = match (count(Verdict::Holds), count(Verdict::DoesNot)) {
        (holds, _) if holds == judgements.len() => Verdict::Holds,
        (_, gone) if gone == judgements.len() => Verdict::DoesNot,
        _ if count(Verdict::Withheld) > 0 => Verdict::Withheld,
        _ => Verdict::Depends,
    };
    let join = |of: fn(&Judgement) -> &str| {
        let mut parts: Vec<&str> = Vec::new();
        for part in judgements.iter().map(of).filter(|part| !part.is_empty()) {
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        parts.join("; ")
    };
    let reason = join(|j| &j.reason);
    let is_mixed = verdict == Verdict::Depends && reason.is_empty();
    Judgement {
        verdict,
        seen: join(|j| &j.seen),
        ratio: judgements.first().and_then(|j| j.ratio),
        reason: if is_mixed {
            "a part of it holds".to_owned()
        } else {
            reason
        },
    }
}

/// "24%" of what was saved at a ratio.
pub(super) fn saved(ratio: f64) -> String {
    percent(1.0 - ratio)
}

/// A judgement without a ratio.
pub(super) fn plain(holds: bool, seen: String) -> Judgement {
    Judgement {
        verdict: if holds {
            Verdict::Holds
        } else {
            Verdict::DoesNot
        },
        seen,
        ratio: None,
        reason: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(ratio: f64, low: f64, high: f64) -> Option<Ratio> {
        Some(Ratio {
            ratio,
            low,
            high,
            pairs: 5,
        })
    }

    fn exactly(value: f64) -> Option<Ratio> {
        ratio(value, value, value)
    }

    #[test]
    fn half_of_the_effect_holds_and_next_to_nothing_does_not() {
        let verdict = |seen| judge_effect(exactly(seen), 0.5, "CPU").verdict;
        assert_eq!(verdict(0.5), Verdict::Holds);
        assert_eq!(verdict(0.3), Verdict::Holds);
        assert_eq!(verdict(0.70), Verdict::Holds);
        assert_eq!(verdict(0.72), Verdict::Depends);
        assert_eq!(verdict(0.95), Verdict::DoesNot);
        assert_eq!(verdict(1.5), Verdict::DoesNot);
        // An effect above 1 is judged alike.
        assert_eq!(judge_effect(exactly(1.2), 1.3, "").verdict, Verdict::Holds);
        assert_eq!(
            judge_effect(exactly(0.9), 1.3, "").verdict,
            Verdict::DoesNot
        );
    }

    #[test]
    fn an_interval_over_the_bound_withholds() {
        assert_eq!(
            judge_effect(ratio(0.6, 0.4, 0.9), 0.5, "").verdict,
            Verdict::Withheld
        );
        assert_eq!(
            judge_same(ratio(1.01, 0.99, 1.2), 0.1, "").verdict,
            Verdict::Withheld
        );
    }

    #[test]
    fn the_same_is_within_the_tolerance_both_ways() {
        let verdict = |seen| judge_same(exactly(seen), 0.1, "").verdict;
        assert_eq!(verdict(1.0), Verdict::Holds);
        assert_eq!(verdict(1.09), Verdict::Holds);
        assert_eq!(verdict(0.92), Verdict::Holds);
        assert_eq!(verdict(1.2), Verdict::DoesNot);
        assert_eq!(verdict(0.8), Verdict::DoesNot);
    }

    #[test]
    fn parts_of_a_claim_are_joined() {
        let with = |verdict| Judgement {
            verdict,
            seen: format!("{verdict:?}"),
            ..not_run()
        };
        let joined =
            |verdicts: &[Verdict]| all(verdicts.iter().map(|v| with(*v)).collect()).verdict;
        use Verdict::{Depends, DoesNot, Holds, NotRun, Withheld};
        assert_eq!(joined(&[Holds, Holds]), Holds);
        assert_eq!(joined(&[DoesNot, DoesNot]), DoesNot);
        assert_eq!(joined(&[Holds, DoesNot]), Depends);
        assert_eq!(joined(&[Holds, Withheld]), Withheld);
        assert_eq!(joined(&[Holds, NotRun]), NotRun);
        assert_eq!(joined(&[Depends, Holds]), Depends);
    }

    #[test]
    fn nothing_run_is_no_verdict() {
        assert_eq!(judge_effect(None, 0.5, "").verdict, Verdict::NotRun);
        assert_eq!(needs("MariaDB").verdict, Verdict::NeedsEngine);
    }
}
