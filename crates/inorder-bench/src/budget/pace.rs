//! Which trials begin, from elapsed time and the durations of earlier trials.

use super::{Due, guess, ranks};
use crate::{
    error::Error,
    experiment::Experiment,
    plan::setup_of,
    results::{Run, Status, Trial},
};
use std::{collections::HashMap, time::Duration};

/// The estimate for the rest of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// Trials that will begin.
    pub trials: usize,
    /// Time until the last of them ends.
    pub left: Duration,
}

/// Decides for each trial of a run, in order, whether it begins.
///
/// A unit of trials (a repetition of an experiment, or several that are worth something only together) begins if its
/// estimated end is within the budget. If it does not fit, later repetitions of the same experiment do not begin either,
/// but other experiments may. In a unit that takes longer than estimated, no trial begins after the budget is spent: the
/// run ends at most one trial later. The first trial always begins.
#[derive(Clone, Debug)]
pub struct Pace {
    budget_s: f64,
    trials: Vec<Entry>,
    /// Whether each unit begins, where that is decided.
    units: HashMap<Due, bool>,
    durations: Durations,
}

/// A trial as its pace sees it.
#[derive(Clone, Debug)]
struct Entry {
    due: Due,
    cell: u64,
    guess_s: f64,
    is_left: bool,
}

impl Pace {
    /// The pace of a run, whose finished trials are not run again. Without a budget every trial begins.
    ///
    /// # Errors
    /// If an experiment or a cell of the run doesn't parse (a result file from another version).
    pub fn new(run: &Run, budget: Option<Duration>) -> Result<Self, Error> {
        let mut cells = HashMap::new();
        let all = run.experiments.iter();
        let all: Vec<Experiment> = all.map(|e| run.meta.parsed(e)).collect::<Result<_, _>>()?;
        let ranks = ranks(&all, run.cells.iter());
        for (position, (experiment, asked)) in run.experiments.iter().zip(&all).enumerate() {
            for cell in run.cells_of(&experiment.name) {
                let guess_s = guess::seconds(&setup_of(&cell.levels)?, &asked.reads);
                cells.insert(cell.id, (asked, position, guess_s));
            }
        }
        let entry = |trial: &Trial| {
            let (asked, position, guess_s) = cells.get(&trial.cell)?;
            Some(Entry {
                due: Due::of(asked, *position, ranks[*position], trial.repetition),
                cell: trial.cell,
                guess_s: *guess_s,
                is_left: trial.status != Status::Done,
            })
        };
        let without_cell =
            |trial: u64| Error::Usage(format!("trial {trial} of the run has no cell"));
        Ok(Pace {
            budget_s: budget.map_or(f64::INFINITY, |budget| budget.as_secs_f64()),
            trials: run
                .trials
                .iter()
                .map(|trial| entry(trial).ok_or_else(|| without_cell(trial.id)))
                .collect::<Result<_, _>>()?,
            units: HashMap::new(),
            durations: Durations::default(),
        })
    }

    /// Whether the trial at this position begins, so long after the start of the run.
    pub fn admits(&mut self, at: usize, elapsed: Duration) -> bool {
        let elapsed_s = elapsed.as_secs_f64();
        let due = self.trials[at].due;
        if let Some(begins) = self.units.get(&due) {
            return *begins && elapsed_s < self.budget_s;
        }
        let is_first = self.units.is_empty();
        let is_closed =
            |(other, begins): (&Due, &bool)| other.experiment == due.experiment && !*begins;
        let end_s = elapsed_s + self.unit_s(due);
        let begins = is_first || (end_s <= self.budget_s && !self.units.iter().any(is_closed));
        self.units.insert(due, begins);
        begins
    }

    /// Notes that the trial at this position ran, and how long it took.
    pub fn took(&mut self, at: usize, time: Duration) {
        let trial = &mut self.trials[at];
        trial.is_left = false;
        self.durations.add(trial, time.as_secs_f64());
    }

    /// The estimate at this time after the start.
    pub fn outlook(&self, elapsed: Duration) -> Outlook {
        let (begun, end) = self.clone().run_through(elapsed);
        Outlook {
            trials: begun.len(),
            left: end.saturating_sub(elapsed),
        }
    }

    /// The positions of the trials that will begin.
    pub fn begun(&self, elapsed: Duration) -> Vec<usize> {
        self.clone().run_through(elapsed).0
    }

    /// Runs what is left as estimated: the trials that begin, and the time at which the last ends.
    fn run_through(mut self, mut elapsed: Duration) -> (Vec<usize>, Duration) {
        let mut begun = Vec::new();
        for at in 0..self.trials.len() {
            if self.trials[at].is_left && self.admits(at, elapsed) {
                elapsed += Duration::from_secs_f64(self.durations.estimate_s(&self.trials[at]));
                begun.push(at);
            }
        }
        (begun, elapsed)
    }

    /// Seconds that what is left of a unit takes, as estimated.
    fn unit_s(&self, due: Due) -> f64 {
        let left = self.trials.iter().filter(|t| t.due == due && t.is_left);
        left.map(|trial| self.durations.estimate_s(trial)).sum()
    }
}

/// Seconds measured over seconds guessed, of the trials of a cell and of an experiment.
#[derive(Clone, Debug, Default)]
struct Durations {
    cells: HashMap<u64, Share>,
    experiments: HashMap<usize, Share>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Share {
    measured_s: f64,
    guessed_s: f64,
}

impl Share {
    fn add(&mut self, measured_s: f64, guessed_s: f64) {
        self.measured_s += measured_s;
        self.guessed_s += guessed_s;
    }

    /// The share; `None` before anything was measured.
    fn of(&self) -> Option<f64> {
        (self.guessed_s > 0.0).then(|| self.measured_s / self.guessed_s)
    }
}

impl Durations {
    fn add(&mut self, trial: &Entry, measured_s: f64) {
        let experiment = trial.due.experiment;
        for share in [
            self.cells.entry(trial.cell).or_default(),
            self.experiments.entry(experiment).or_default(),
        ] {
            share.add(measured_s, trial.guess_s);
        }
    }

    /// The least share of an experiment.
    fn least(&self) -> Option<f64> {
        self.experiments
            .values()
            .filter_map(Share::of)
            .min_by(f64::total_cmp)
    }

    /// The guess, corrected by the trials that are most alike: of the same cell, else of the same experiment, else
    /// of the one that took least beside its guess: an experiment that turns out long ends with the budget, and one that is not
    /// begun has no answer.
    fn estimate_s(&self, trial: &Entry) -> f64 {
        let of_cell = self.cells.get(&trial.cell).and_then(Share::of);
        let of_experiment = self.experiments.get(&trial.due.experiment);
        let share = of_cell
            .or_else(|| of_experiment.and_then(Share::of))
            .or_else(|| self.least());
        trial.guess_s * share.unwrap_or(1.0)
    }
}
