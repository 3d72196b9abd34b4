//! A new run: experiments planned, the machine and the engines described.

use crate::{
    budget,
    check::check,
    engines::Engines,
    error::Error,
    experiment::{Experiment, Overrides, Scale},
    host,
    plan::{Plan, plan, setup_of},
    results::{EngineRecord, Meta, Run},
    runner::{TrialFolder, unix_s},
    trial::{self, TrialSpec},
};
use inorder_engine::Engine as _;
use std::{
    collections::BTreeSet,
    path::Path,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

/// The request for a run.
#[derive(Clone, Debug)]
pub struct Request {
    /// The experiments.
    pub experiments: Vec<Experiment>,
    /// The servers that run already, in place of private ones.
    pub engines: Engines,
    /// Their scale.
    pub scale: Scale,
    /// The command line's changes to them.
    pub overrides: Overrides,
    /// Seed of the whole run.
    pub seed: u64,
    /// The command line, without the program's name.
    pub command: Vec<String>,
}

impl Request {
    /// The request that an earlier run was made from: the same experiments, scale, changes and seed.
    ///
    /// # Errors
    /// If its experiments don't parse (a result file from another version).
    pub fn again(run: &Run, command: Vec<String>, engines: Engines) -> Result<Self, Error> {
        let without_url = run.meta.urls.iter().find(|(name, _)| {
            let mut given = engines.remotes().iter();
            !given.any(|remote| remote.name() == name)
        });
        if let Some((name, url)) = without_url {
            return Err(Error::Usage(format!(
                "{name} was measured at {url}: give its --url again, with the password"
            )));
        }
        let experiments = run.experiments.iter();
        let experiments = experiments
            .map(|experiment| run.meta.parsed(experiment))
            .collect::<Result<_, _>>()?;
        Ok(Request {
            experiments,
            engines,
            scale: run.meta.scale()?,
            overrides: run.meta.overrides.clone(),
            seed: run.meta.seed,
            command,
        })
    }

    /// The plan.
    ///
    /// # Errors
    /// If an experiment can't be planned, or has another's name.
    pub fn plan(&self) -> Result<Plan, Error> {
        let mut names = BTreeSet::new();
        for experiment in &self.experiments {
            if !names.insert(&experiment.name) {
                return Err(Error::Usage(format!(
                    "two experiments have the name `{}`",
                    experiment.name
                )));
            }
            check(experiment)?;
        }
        plan(&self.experiments, self.seed, &self.engines)
    }

    /// The plan of a run with a time budget: the most informative trials first, and as many repetitions as a verdict on
    /// time needs where the command line doesn't say how many.
    ///
    /// # Errors
    /// Those of [`Request::plan`].
    pub fn plan_for_budget(&self) -> Result<Plan, Error> {
        let mut longer = self.clone();
        if self.overrides.repetitions.is_none() {
            longer.experiments = budget::with_repetitions(&self.experiments);
        }
        let mut plan = longer.plan()?;
        budget::order(&mut plan, &self.experiments);
        Ok(plan)
    }

    /// The run that a budget is expected to make of a plan: what fits is done.
    ///
    /// # Errors
    /// If an experiment doesn't parse.
    pub fn forecast(&self, plan: &Plan, budget: Duration) -> Result<Run, Error> {
        let mut run = Run {
            meta: Meta {
                scale: self.scale.name().to_owned(),
                overrides: self.overrides.clone(),
                ..Meta::default()
            },
            experiments: plan.experiments.clone(),
            cells: plan.cells.clone(),
            trials: plan.trials.clone(),
        };
        budget::forecast(&mut run, budget)?;
        Ok(run)
    }

    /// The run, with nothing run yet. `results` is the folder its trials will work in.
    ///
    /// # Errors
    /// Those of [`Request::plan`], and if an engine is missing.
    pub fn into_run(self, plan: Plan, results: &Path) -> Result<Run, Error> {
        let mut engines = BTreeSet::new();
        for cell in &plan.cells {
            engines.insert(setup_of(&cell.levels)?.engine);
        }
        let engines = engines
            .iter()
            .filter_map(|name| self.engines.get(name))
            .map(|engine| {
                let info = engine.info()?;
                Ok(EngineRecord {
                    name: info.name,
                    version: info.version,
                    compile_options: info.compile_options,
                })
            })
            .collect::<Result<_, Error>>()?;
        Ok(Run {
            meta: Meta {
                inorder_version: env!("CARGO_PKG_VERSION").to_owned(),
                revision: env!("INORDER_REVISION").to_owned(),
                seed: self.seed,
                scale: self.scale.name().to_owned(),
                overrides: self.overrides,
                command: self.command,
                started_unix_s: unix_s(),
                finished_unix_s: None,
                budget_s: None,
                host: host::describe(results),
                engines,
                urls: self.engines.shown(),
            },
            experiments: plan.experiments,
            cells: plan.cells,
            trials: plan.trials,
        })
    }
}

/// Rows of the measured table in a rehearsal: a transaction's, but within these.
const REHEARSAL_ROWS: (u64, u64) = (100, 1000);

/// Longest time without any progress in a rehearsal: statements on empty tables, or a hundred thousand
/// rows of a table that isn't measured, take seconds at most.
const REHEARSAL_SILENCE_MAX: Duration = Duration::from_secs(120);

/// Runs a trial in a thread of its own, which is left to itself when it makes no progress for too long: the
/// command that rehearses ends then, and with it all that the trial has started.
fn run_within(spec: TrialSpec, engines: Engines, experiment: &Experiment) -> Result<(), Error> {
    let limit = REHEARSAL_SILENCE_MAX.min(Duration::from_secs(experiment.trial_seconds_max));
    let (sender, said) = mpsc::channel();
    thread::spawn(move || {
        let of_progress = sender.clone();
        let ended = trial::run(&spec, &engines, &mut |_| _ = of_progress.send(None));
        let _ = sender.send(Some(ended.map(drop)));
    });
    end_of(limit, |wait| said.recv_timeout(wait))
}

/// Progress of a rehearsal, or its end.
type Said = Option<Result<(), Error>>;

/// Waits for the end of a rehearsal, which may take any time as long as it makes progress within `limit`.
fn end_of(
    limit: Duration,
    mut next: impl FnMut(Duration) -> Result<Said, RecvTimeoutError>,
) -> Result<(), Error> {
    loop {
        match next(limit) {
            Ok(Some(ended)) => return ended,
            Ok(None) => {}
            Err(RecvTimeoutError::Timeout) => {
                return Err(Error::Usage(format!(
                    "the rehearsal made no progress for {} s: a statement of `create` or of [reads] `query` doesn't end",
                    limit.as_secs_f64()
                )));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::Trial("the rehearsal panicked".to_owned()));
            }
        }
    }
}

/// Runs one small trial of each layout of an experiment here and now, so that a wrong table or
/// recipe is known before anything is measured or written.
///
/// # Errors
/// Returns the error with which a trial would fail.
pub fn rehearse(
    request: &Request,
    experiment: &Experiment,
    plan: &Plan,
    folder: &Path,
) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    for cell in plan
        .cells
        .iter()
        .filter(|c| c.experiment == experiment.name)
    {
        let setup = setup_of(&cell.levels)?;
        if !seen.insert((setup.layout.clone(), setup.key, setup.engine.clone())) {
            continue;
        }
        let mut levels = cell.levels.clone();
        let rows = setup.rows.min(
            setup
                .rows_per_transaction
                .clamp(REHEARSAL_ROWS.0, REHEARSAL_ROWS.1),
        );
        levels.insert("rows".to_owned(), rows.to_string());
        let before = setup.rows_before.min(rows);
        levels.insert("rows_before".to_owned(), before.to_string());
        levels.insert("arriving_rows_per_s".to_owned(), "0".to_owned());
        levels.insert(
            "operations".to_owned(),
            setup.operations.min(rows).to_string(),
        );
        let folder = TrialFolder::create(folder.join("rehearsal"))?;
        let spec = TrialSpec {
            file: format!("{}.toml", experiment.name),
            text: experiment.text.clone(),
            scale: request.scale,
            overrides: Overrides {
                data: experiment.data.clone(),
                ..request.overrides.clone()
            },
            levels,
            repetition: 0,
            seed: 1,
            folder: folder.path().to_owned(),
            is_rehearsal: true,
        };
        run_within(spec, request.engines.clone(), experiment).map_err(|error| match error {
            place if place.is_of_the_place() => place,
            other => Error::Usage(format!("`{}`, {}: {other}", experiment.name, cell.label)),
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a rehearsal ends that makes progress so many times, each after so many seconds of a clock that jumps ahead.
    fn ended(progress: &[u64], last: Result<Said, RecvTimeoutError>) -> Result<(), String> {
        let mut progress = progress.iter();
        let mut last = Some(last);
        let next = |wait: Duration| match progress.next() {
            Some(seconds) if Duration::from_secs(*seconds) > wait => Err(RecvTimeoutError::Timeout),
            Some(_) => Ok(None),
            None => last.take().unwrap_or(Err(RecvTimeoutError::Disconnected)),
        };
        end_of(REHEARSAL_SILENCE_MAX, next).map_err(|error| error.to_string())
    }

    #[test]
    fn a_rehearsal_ends_when_it_is_silent_and_not_before() {
        // Twenty minutes, with progress every two.
        assert_eq!(ended(&[120; 10], Ok(Some(Ok(())))), Ok(()));
        let silent = ended(&[1, 121], Ok(Some(Ok(())))).unwrap_err();
        assert!(silent.contains("made no progress for 120 s"), "{silent}");
        let failed = ended(&[], Ok(Some(Err(Error::Trial("no room".to_owned())))));
        assert_eq!(failed, Err("no room".to_owned()));
        let panicked = ended(&[1], Err(RecvTimeoutError::Disconnected));
        assert_eq!(panicked, Err("the rehearsal panicked".to_owned()));
    }
}
