//! Shared parts of the functions that judge claims: cells by their levels, ratios in pairs, and the rules that turn a
//! ratio into a verdict.

use super::claim::{Judgement, On, PUBLISHED_ON, Part, Verdict};
use crate::{
    analysis::{is_noisy, ratio_of_pairs, reference_exponent},
    format::{percent, ratio_with_interval},
    metrics::metric_named,
    results::{Cell, Run, Trial},
    statistics::{Ratio, median, ratio_of},
};

/// Share of the published effect (in logarithms) from which a claim holds.
const EFFECT_HOLDS: f64 = 0.5;
/// Share of the published effect below which a claim does not hold.
const EFFECT_GONE: f64 = 0.15;
/// Repetitions that a verdict on time needs.
pub const TIME_REPETITIONS_MIN: usize = 5;
/// The reason given where the interval includes a bound.
const BOTH: &str = "the 95% interval includes both outcomes";

/// The reason given for a single repetition.
pub(super) const ONE_REPETITION: &str =
    "one repetition has no interval: use --repetitions 2 or more";

/// Verdicts by ratio: each from its bound up to the next one's. The first bound is 0.
pub(super) type Bands<'a> = &'a [(f64, Verdict)];

/// The largest relative difference of two times that count as equal.
pub(super) const SAME_TIME: f64 = 0.10;
/// The largest relative difference of two sizes or volumes that count as equal.
pub(super) const SAME_BYTES: f64 = 0.03;

/// Levels of varied factors.
pub(super) type Levels<'a> = &'a [(&'a str, &'a str)];

/// The trials of one experiment.
pub(super) struct Evidence<'a> {
    /// The run.
    pub run: &'a Run,
    /// The engine, where the levels name none.
    engine: &'a str,
    /// Whether the claim says something about time.
    is_on_time: bool,
    /// The experiment's name.
    pub experiment: &'static str,
}

impl<'a> Evidence<'a> {
    /// The trials of an experiment of a run.
    pub fn new(on: On<'a>, experiment: &'static str) -> Self {
        Evidence {
            run: on.run,
            engine: on.engine,
            is_on_time: on.is_on_time,
            experiment,
        }
    }

    /// Whether the engine is that of the posts.
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

    /// A metric of each finished trial of a cell.
    pub fn values(&self, metric: &str, levels: Levels<'_>) -> Vec<f64> {
        let of = metric_named(metric).map(|metric| metric.of);
        let trials = self.trials(levels).into_iter();
        trials.filter_map(|trial| of?(trial)).collect()
    }

    /// Median of a metric in a cell.
    pub fn value(&self, metric: &str, levels: Levels<'_>) -> Option<f64> {
        let metric = metric_named(metric)?;
        median(self.trials(levels).into_iter().filter_map(metric.of))
    }

    /// Ratio of a metric, A over B.
    pub fn ratio(&self, metric: &str, a: Levels<'_>, b: Levels<'_>) -> Option<Ratio> {
        let exponent = self.reference_exponent(metric);
        let metric = metric_named(metric)?;
        self.ratio_of_pairs(|a, b| metric.pair(a, b, exponent), a, b)
    }

    /// How far a metric follows the reference work in these trials.
    pub fn reference_exponent(&self, metric: &str) -> f64 {
        let of = |metric| reference_exponent(self.run, self.experiment, metric);
        metric_named(metric).map_or(1.0, of)
    }

    /// A metric's ratio in each repetition, A over B.
    pub fn each_ratio(&self, metric: &str, a: Levels<'_>, b: Levels<'_>) -> Vec<(u32, f64)> {
        let exponent = self.reference_exponent(metric);
        let Some(metric) = metric_named(metric) else {
            return Vec::new();
        };
        let b = self.trials(b);
        let of_pair = |trial: &&Trial| {
            let is_pair = |other: &&&Trial| other.repetition == trial.repetition;
            let other = b.iter().find(is_pair)?;
            let (a, b) = metric.pair(trial, other, exponent)?;
            let ratio = a / b;
            (ratio > 0.0).then_some((trial.repetition, ratio))
        };
        self.trials(a).iter().filter_map(of_pair).collect()
    }

    /// Ratio of any number of a trial, A over B, in pairs by repetition.
    pub fn ratio_by(
        &self,
        of: impl Fn(&Trial) -> Option<f64>,
        a: Levels<'_>,
        b: Levels<'_>,
    ) -> Option<Ratio> {
        self.ratio_of_pairs(|a, b| Some((of(a)?, of(b)?)), a, b)
    }

    /// Ratio of two numbers of a pair of trials, A over B.
    pub fn ratio_of_pairs(
        &self,
        of: impl Fn(&Trial, &Trial) -> Option<(f64, f64)>,
        a: Levels<'_>,
        b: Levels<'_>,
    ) -> Option<Ratio> {
        ratio_of_pairs(self.run, self.cell(a)?.id, self.cell(b)?.id, of)
    }

    /// A verdict that rests on a ratio of times: inconclusive on a busy machine, and from too few repetitions.
    pub fn timed(&self, judgement: Judgement) -> Judgement {
        let repetitions = judgement.ratio.map_or(0, |ratio| ratio.pairs);
        self.timed_over(repetitions, judgement)
    }

    /// The same where the times of so many repetitions make no ratio.
    pub fn timed_over(&self, repetitions: usize, judgement: Judgement) -> Judgement {
        debug_assert!(
            self.is_on_time,
            "a claim on `{}` is judged by time: mark it with on_time",
            self.experiment
        );
        let reason = match is_noisy(self.run, self.experiment) {
            _ if judgement.verdict == Verdict::NotRun => return judgement,
            // How busy is said once, beside the experiment's own tables.
            Some(_) => "the machine was busy, or its load could not be observed".to_owned(),
            None if repetitions < TIME_REPETITIONS_MIN => format!(
                "a verdict on time needs {TIME_REPETITIONS_MIN} repetitions, this run has {repetitions}: \
                 use --repetitions {TIME_REPETITIONS_MIN}"
            ),
            None => return judgement,
        };
        Judgement {
            verdict: Verdict::Inconclusive,
            reason,
            ..judgement
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
        parts: Vec::new(),
        published: None,
    }
}

/// The claim is about an engine that the run does not have.
pub(super) fn needs(engine: &str) -> Judgement {
    Judgement {
        verdict: Verdict::NeedsEngine,
        seen: String::new(),
        ratio: None,
        reason: format!("needs {engine}"),
        parts: Vec::new(),
        published: None,
    }
}

/// Judges "A costs `claimed` times B" by the share of the published effect that is seen here: half
/// of it holds, next to nothing doesn't, what is between depends.
pub(super) fn judge_effect(ratio: Option<Ratio>, claimed: f64, what: &str) -> Judgement {
    use Verdict::{Depends, DoesNot, Holds};
    let (holds, gone) = (claimed.powf(EFFECT_HOLDS), claimed.powf(EFFECT_GONE));
    let bands = match claimed < 1.0 {
        true => [(0.0, Holds), (holds, Depends), (gone, DoesNot)],
        false => [(0.0, DoesNot), (gone, Depends), (holds, Holds)],
    };
    Judgement {
        published: Some(claimed),
        ..judge_ratio(ratio, what, &bands)
    }
}

/// Judges "A costs as much as B": it does where the whole interval lies within the tolerance, and doesn't where the
/// whole interval lies outside of it (the two one-sided tests of Schuirmann, Journal of Pharmacokinetics and
/// Biopharmaceutics 15, 1987, on the side of equivalence).
pub(super) fn judge_same(ratio: Option<Ratio>, tolerance: f64, what: &str) -> Judgement {
    use Verdict::{DoesNot, Holds};
    let bands = [
        (0.0, DoesNot),
        (1.0 / (1.0 + tolerance), Holds),
        (1.0 + tolerance, DoesNot),
    ];
    Judgement {
        published: Some(1.0),
        ..judge_ratio(ratio, what, &bands)
    }
}

/// The verdict that all of an interval has; `None` where it has several.
fn only_verdict(low: f64, high: f64, bands: Bands<'_>) -> Option<Verdict> {
    let ends = bands.iter().skip(1).map(|(from, _)| *from);
    let mut inside = bands
        .iter()
        .zip(ends.chain([f64::INFINITY]))
        .filter(|((from, _), end)| *from <= high && (low < *end || low == f64::INFINITY))
        .map(|((_, verdict), _)| *verdict);
    let first = inside.next()?;
    inside.all(|other| other == first).then_some(first)
}

/// Judges a ratio by bands. Where the interval reaches into bands of other verdicts, it is inconclusive.
pub(super) fn judge_ratio(ratio: Option<Ratio>, what: &str, bands: Bands<'_>) -> Judgement {
    let Some(ratio) = ratio else {
        return not_run();
    };
    let verdict = match ratio.has_interval() {
        true => only_verdict(ratio.low, ratio.high, bands),
        false => None,
    };
    Judgement {
        verdict: verdict.unwrap_or(Verdict::Inconclusive),
        seen: format!("{what} {}", ratio_with_interval(&ratio)),
        ratio: Some(ratio),
        reason: match verdict {
            None if !ratio.has_interval() => ONE_REPETITION.to_owned(),
            None => BOTH.to_owned(),
            Some(Verdict::Depends) => {
                "the same direction, but less than half of the effect".to_owned()
            }
            Some(_) => String::new(),
        },
        parts: Vec::new(),
        published: None,
    }
}

/// Judges "at least `wanted`" of a number that each repetition has.
pub(super) fn judge_at_least(values: &[f64], wanted: f64, seen: &str) -> Judgement {
    let pairs: Vec<(f64, f64)> = values.iter().map(|value| (*value, wanted)).collect();
    let bands = [(0.0, Verdict::DoesNot), (1.0, Verdict::Holds)];
    Judgement {
        seen: seen.to_owned(),
        ..judge_ratio(ratio_of(&pairs), "", &bands)
    }
}

/// The parts of a claim, judged apart: it holds where all hold, doesn't where none does, and is inconclusive where one
/// is. Each part keeps its own verdict.
pub(super) fn all(parts: Vec<(&'static str, Judgement)>) -> Judgement {
    if parts.iter().any(|(_, j)| j.verdict == Verdict::NotRun) {
        return not_run();
    }
    let count = |verdict| parts.iter().filter(|(_, j)| j.verdict == verdict).count();
    let verdict = match (count(Verdict::Holds), count(Verdict::DoesNot)) {
        (holds, _) if holds == parts.len() => Verdict::Holds,
        (_, gone) if gone == parts.len() => Verdict::DoesNot,
        _ if count(Verdict::Inconclusive) > 0 => Verdict::Inconclusive,
        _ => Verdict::Depends,
    };
    let join = |of: fn(&Judgement) -> &str| {
        let mut texts: Vec<&str> = Vec::new();
        for text in parts.iter().map(|(_, j)| of(j)).filter(|t| !t.is_empty()) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts.join("; ")
    };
    let reason = join(|j| &j.reason);
    let is_mixed = verdict == Verdict::Depends && reason.is_empty();
    Judgement {
        verdict,
        seen: join(|j| &j.seen),
        ratio: parts.first().and_then(|(_, j)| j.ratio),
        published: parts.first().and_then(|(_, j)| j.published),
        reason: if is_mixed {
            "a part of it holds".to_owned()
        } else {
            reason
        },
        parts: parts
            .into_iter()
            .map(|(name, judgement)| Part {
                name,
                verdict: judgement.verdict,
                ratio: judgement.ratio,
                reason: judgement.reason,
            })
            .collect(),
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
        parts: Vec::new(),
        published: None,
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
    fn an_interval_with_both_outcomes_is_inconclusive() {
        let effect = judge_effect(ratio(0.6, 0.4, 0.9), 0.5, "");
        assert_eq!(effect.verdict, Verdict::Inconclusive);
        assert_eq!(effect.reason, "the 95% interval includes both outcomes");
        let same = |low, high| judge_same(ratio(1.43, low, high), 0.1, "").verdict;
        assert_eq!(same(0.99, 1.2), Verdict::Inconclusive);
        // Its ends say the same, what lies between them doesn't.
        assert_eq!(same(0.89, 1.89), Verdict::Inconclusive);
        assert_eq!(same(1.2, 1.89), Verdict::DoesNot);
        assert_eq!(same(0.95, 1.05), Verdict::Holds);
    }

    #[test]
    fn one_repetition_has_no_verdict() {
        let one = judge_effect(ratio_of(&[(1.0, 2.0)]), 0.5, "");
        assert_eq!(one.verdict, Verdict::Inconclusive);
        assert!(one.reason.contains("--repetitions"), "{}", one.reason);
    }

    #[test]
    fn a_verdict_on_time_needs_five_repetitions() {
        let run = Run::default();
        let e = Evidence {
            run: &run,
            engine: "sqlite",
            is_on_time: true,
            experiment: "x",
        };
        let of = |pairs| {
            let ratio = ratio(0.5, 0.45, 0.55).map(|ratio| Ratio { pairs, ..ratio });
            e.timed(judge_effect(ratio, 0.5, "CPU"))
        };
        assert_eq!(of(4).verdict, Verdict::Inconclusive);
        assert!(of(4).reason.contains("--repetitions 5"));
        assert_eq!(of(5).verdict, Verdict::Holds);
    }

    /// Fifty studies of a claim that is true, and as many of one that isn't: which verdicts they come to.
    #[test]
    fn no_study_turns_a_claim_around() {
        use crate::statistics::simulation::Noise;
        let mut random = Noise::new(7);
        for (truth, wrong) in [(0.5, Verdict::DoesNot), (1.0, Verdict::Holds)] {
            for repetitions in [2, 3, 5] {
                let turned = (0..1000).filter(|_| {
                    let pairs: Vec<(f64, f64)> = (0..repetitions)
                        .map(|_| {
                            let noise = |random: &mut Noise| (0.15 * random.normal()).exp();
                            (truth * noise(&mut random), noise(&mut random))
                        })
                        .collect();
                    judge_effect(ratio_of(&pairs), 0.5, "").verdict == wrong
                });
                assert!(
                    turned.count() <= 5,
                    "{truth} with {repetitions} repetitions"
                );
            }
        }
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
    fn parts_of_a_claim_are_judged_apart() {
        let with = |verdict| Judgement {
            verdict,
            seen: format!("{verdict:?}"),
            ..not_run()
        };
        let joined = |verdicts: &[Verdict]| {
            let names = ["size", "time"];
            all(names
                .into_iter()
                .zip(verdicts.iter().map(|v| with(*v)))
                .collect())
        };
        use Verdict::{Depends, DoesNot, Holds, Inconclusive, NotRun};
        assert_eq!(joined(&[Holds, Holds]).verdict, Holds);
        assert_eq!(joined(&[DoesNot, DoesNot]).verdict, DoesNot);
        assert_eq!(joined(&[Holds, DoesNot]).verdict, Depends);
        assert_eq!(joined(&[Holds, NotRun]).verdict, NotRun);
        assert_eq!(joined(&[Depends, Holds]).verdict, Depends);
        // A certain verdict about sizes is reported even if the times are unreliable.
        let half = joined(&[Holds, Inconclusive]);
        assert_eq!(half.verdict, Inconclusive);
        assert_eq!(half.verdict_text(), "size holds, time inconclusive");
        assert_eq!(joined(&[Holds, Holds]).verdict_text(), "holds");
    }

    #[test]
    fn nothing_run_is_no_verdict() {
        assert_eq!(judge_effect(None, 0.5, "").verdict, Verdict::NotRun);
        assert_eq!(needs("MariaDB").verdict, Verdict::NeedsEngine);
    }
}
