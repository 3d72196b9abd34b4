//! A time budget: in which order the trials of a run begin, and which of them are left out.
//!
//! Nothing here looks at a clock or at a sample. [`order`] puts first what adds most to an answer, [`Pace`] decides
//! from elapsed time and the durations of earlier trials whether the next ones begin; [`crate::results::left_out`] tells
//! what did not. Because a run stops by time only, never by its results, stopping does not bias its intervals.

mod guess;
mod pace;

pub(crate) use guess::Guess;
pub use pace::{Outlook, Pace};

use crate::{
    claims::{CLAIMS, Claim, TIME_REPETITIONS_MIN},
    error::Error,
    experiment::Experiment,
    plan::{Plan, setup_of},
    results::{Cell, Run, Status},
};
use std::{str::FromStr, time::Duration};

/// Time that a run may take; `None` is as long as its plan takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget(pub Option<Duration>);

impl Budget {
    /// The budget of a run of all built-in experiments: enough for most verdicts on time where the machine is idle.
    pub const DEFAULT: Duration = Duration::from_secs(85);
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Budget(None));
        }
        let end = text.find(|c: char| !c.is_ascii_digit());
        let (number, unit) = text.split_at(end.unwrap_or(text.len()));
        let seconds_per_unit = match unit {
            "" | "s" => Some(1),
            "m" => Some(60),
            "h" => Some(3600),
            _ => None,
        };
        let seconds = number.parse().ok().zip(seconds_per_unit);
        match seconds.and_then(|(number, seconds): (u64, u64)| number.checked_mul(seconds)) {
            Some(0) => Err("no trial runs in no time; `none` sets no budget".to_owned()),
            Some(seconds) => Ok(Budget(Some(Duration::from_secs(seconds)))),
            None => Err("write seconds, such as 60 or 60s, or 5m, 1h; or `none`".to_owned()),
        }
    }
}

/// The contribution of a group of trials to an answer, most valuable first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Stage {
    /// The first two repetitions of an experiment that claims rest on: an interval, and so verdicts on bytes, which hardly
    /// differ from seed to seed whatever else the machine does. The shortest experiment goes first, so that most verdicts
    /// are there soon.
    Interval,
    /// The first repetition of an experiment without claims: an answer, with exact bytes.
    Answer,
    /// The further repetitions that an experiment with claims on time asks for: their verdicts.
    Verdict,
    /// The second repetition of an experiment without claims.
    OtherInterval,
    /// The repetitions up to [`TIME_REPETITIONS_MIN`] of an experiment with claims on time.
    LaterVerdict,
    /// The further repetitions of an experiment without claims on time.
    Narrower,
}

/// When trials are due. Trials with the same key are a unit: all of them begin, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Due {
    stage: Stage,
    /// Experiments without claims on time take turns, a repetition each. The repetitions between the second and the fifth
    /// give no verdict on time, so they are one round. The first two of an experiment with claims follow each other.
    round: u32,
    /// Position of the experiment in the plan: with equal stages, the earlier one goes first.
    experiment: usize,
}

impl Due {
    /// The time at which a repetition, counted from 0, of the experiment at this position is due.
    /// `rank` is the place of the experiment among all, the shortest first.
    fn of(asked: &Experiment, experiment: usize, rank: u32, repetition: u32) -> Self {
        let has_claims = !asked.claims.is_empty();
        let of_experiment = |claim: &&Claim| asked.claims.iter().any(|id| id == claim.id);
        let is_on_time = CLAIMS.iter().filter(of_experiment).any(|c| c.is_on_time);
        let (stage, round) = match repetition {
            0 | 1 if has_claims => (Stage::Interval, INTERVAL_REPETITIONS * rank + repetition),
            0 => (Stage::Answer, 0),
            1 => (Stage::OtherInterval, 0),
            _ if !is_on_time => (Stage::Narrower, repetition),
            _ if repetition < asked.repetitions => (Stage::Verdict, 0),
            _ => (Stage::LaterVerdict, 0),
        };
        Due {
            stage,
            round,
            experiment,
        }
    }
}

/// Repetitions that make an interval.
const INTERVAL_REPETITIONS: u32 = 2;

/// The place of each of some experiments among them by the guessed time of a repetition, the shortest first.
fn ranks<'a>(experiments: &[Experiment], cells: impl Iterator<Item = &'a Cell>) -> Vec<u32> {
    let mut seconds = vec![0.0; experiments.len()];
    for cell in cells {
        let at = experiments.iter().position(|e| e.name == cell.experiment);
        if let (Some(at), Ok(setup)) = (at, setup_of(&cell.levels)) {
            seconds[at] += guess::seconds(&setup, &experiments[at].reads);
        }
    }
    let is_before = |a: usize, b: usize| seconds[a].total_cmp(&seconds[b]).then(a.cmp(&b)).is_lt();
    let before = |own| {
        (0..seconds.len())
            .filter(|&other| is_before(other, own))
            .count() as u32
    };
    (0..seconds.len()).map(before).collect()
}

/// The experiments of a run with a time budget: each with as many repetitions as a verdict on time needs.
pub fn with_repetitions(experiments: &[Experiment]) -> Vec<Experiment> {
    let mut experiments = experiments.to_vec();
    for experiment in &mut experiments {
        experiment.repetitions = experiment.repetitions.max(TIME_REPETITIONS_MIN as u32);
    }
    experiments
}

/// Puts the trials of a plan in order, the most informative first, and numbers them anew. The order depends on the plan and
/// on what the experiments ask for only, so that it is the same on every machine.
pub fn order(plan: &mut Plan, asked: &[Experiment]) {
    let ranks = ranks(asked, plan.cells.iter());
    let due = |cell: u64, repetition| {
        let cell = plan.cells.iter().find(|other| other.id == cell);
        let name = cell.map(|cell| &cell.experiment);
        let at = asked.iter().position(|e| Some(&e.name) == name);
        at.map(|at| Due::of(&asked[at], at, ranks[at], repetition))
    };
    // The sort is stable: the shuffled order within a repetition stays.
    plan.trials
        .sort_by_cached_key(|trial| due(trial.cell, trial.repetition));
    for (at, trial) in plan.trials.iter_mut().enumerate() {
        trial.id = at as u64 + 1;
    }
}

/// Marks what a budget is expected to admit of a run, from guessed durations, as done.
///
/// # Errors
/// Those of [`Pace::new`].
pub fn forecast(run: &mut Run, budget: Duration) -> Result<(), Error> {
    let begun = Pace::new(run, Some(budget))?.begun(Duration::ZERO);
    run.meta.budget_s = (begun.len() < run.trials.len()).then_some(budget.as_secs());
    for at in begun {
        run.trials[at].status = Status::Done;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
