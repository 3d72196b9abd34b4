//! Runs a plan: trial after trial, each kept in the result file when it ends.

mod process;

pub use process::{Processes, serve};

use crate::{
    budget::{Outlook, Pace},
    error::Error,
    experiment::{Overrides, Scale},
    results::{Run, Status, Store, Trial},
    trial::{Outcome, TrialSpec},
};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Trials that may fail one after another before the run gives up.
const FAILURES_IN_A_ROW_MAX: u32 = 3;

/// Runs one trial. The implementation starts a process; tests use one that does not.
pub trait Executor {
    /// Runs a trial to its end or its time limit. `on_rows` hears the rows that are committed.
    ///
    /// # Errors
    /// The reason for a failure.
    fn run(
        &mut self,
        spec: &TrialSpec,
        seconds_max: u64,
        on_rows: &mut dyn FnMut(u64),
    ) -> Result<Outcome, String>;
}

/// Receives the progress of a run.
pub trait Observer {
    /// A trial begins; the outlook includes it.
    fn begins(&mut self, _run: &Run, _trial: &Trial, _outlook: Outlook) {}
    /// Rows of the current trial that are committed.
    fn rows(&mut self, _rows: u64) {}
    /// A trial ended, well or not.
    fn ended(&mut self, _run: &Run, _trial: &Trial) {}
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every trial was run.
    Complete,
    /// Its time budget left out trials; it can be resumed.
    OutOfTime,
    /// It was stopped; it can be resumed.
    Stopped,
}

/// A reason to end a run before its last trial.
pub struct Bounds<'a> {
    /// Set when the run is to stop.
    pub stop: &'a AtomicBool,
    /// Time that the run may take; `None` is as long as its trials take.
    pub budget: Option<Duration>,
    /// Time since the run began.
    pub clock: &'a dyn Fn() -> Duration,
}

/// Runs every trial of `run` that isn't done and that the time budget admits, in order, and keeps each in `store`.
///
/// # Errors
/// If the result file can't be written, or trials fail one after another.
pub fn run_trials(
    store: &Store,
    run: &mut Run,
    work: &Path,
    executor: &mut dyn Executor,
    observer: &mut dyn Observer,
    bounds: &Bounds<'_>,
) -> Result<End, Error> {
    let is_stopped = || bounds.stop.load(Ordering::Relaxed);
    let mut pace = Pace::new(run, bounds.budget)?;
    let mut failures_in_a_row = 0;
    for at in 0..run.trials.len() {
        if run.trials[at].status == Status::Done {
            continue;
        }
        if is_stopped() {
            return Ok(End::Stopped);
        }
        let began = (bounds.clock)();
        if !pace.admits(at, began) {
            continue;
        }
        observer.begins(run, &run.trials[at], pace.outlook(began));
        let trial = &run.trials[at];
        let folder = TrialFolder::create(work.join(format!("trial-{}", trial.id)))?;
        let (spec, seconds_max) = spec_of(run, trial, folder.path())?;
        let outcome = executor.run(&spec, seconds_max, &mut |rows| observer.rows(rows));
        drop(folder);
        if is_stopped() && outcome.is_err() {
            return Ok(End::Stopped);
        }
        pace.took(at, (bounds.clock)().saturating_sub(began));
        let trial = &mut run.trials[at];
        match outcome {
            Ok(outcome) => {
                failures_in_a_row = 0;
                fill(trial, outcome);
            }
            Err(reason) => {
                failures_in_a_row += 1;
                trial.status = Status::Failed;
                trial.error = Some(reason);
            }
        }
        store.keep(trial)?;
        observer.ended(run, &run.trials[at]);
        if failures_in_a_row == FAILURES_IN_A_ROW_MAX {
            return Err(Error::Trial(format!(
                "{failures_in_a_row} trials in a row failed, the last with: {}",
                run.trials[at].error.as_deref().unwrap_or_default()
            )));
        }
    }
    finish(store, run, bounds.budget)
}

/// Notes the end of a run in it and in its file.
fn finish(store: &Store, run: &mut Run, budget: Option<Duration>) -> Result<End, Error> {
    let is_left = run.trials.iter().any(|t| t.status == Status::Planned);
    let now = unix_s();
    run.meta.finished_unix_s = Some(now);
    run.meta.budget_s = budget.filter(|_| is_left).map(|budget| budget.as_secs());
    store.finish(now, run.meta.budget_s)?;
    Ok(match is_left {
        true => End::OutOfTime,
        false => End::Complete,
    })
}

fn fill(trial: &mut Trial, outcome: Outcome) {
    trial.status = Status::Done;
    trial.error = None;
    trial.noise = outcome.noise;
    trial.settings = outcome.settings;
    trial.texts = outcome.texts;
    trial.samples = outcome.samples;
}

/// Seconds since 1970, UTC.
pub fn unix_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// The input of a trial's process, and its time limit.
fn spec_of(run: &Run, trial: &Trial, folder: &Path) -> Result<(TrialSpec, u64), Error> {
    let missing = |what: &str| Error::Usage(format!("trial {} has no {what}", trial.id));
    let cell = run.cell(trial.cell).ok_or_else(|| missing("cell"))?;
    let experiment = run
        .experiment(&cell.experiment)
        .ok_or_else(|| missing("experiment"))?;
    let spec = TrialSpec {
        file: format!("{}.toml", experiment.name),
        text: experiment.toml.clone(),
        scale: Scale::from_name(&run.meta.scale).ok_or_else(|| missing("scale"))?,
        overrides: Overrides {
            data: experiment.data.clone(),
            ..run.meta.overrides.clone()
        },
        levels: cell.levels.clone(),
        repetition: trial.repetition,
        seed: trial.seed,
        folder: folder.to_owned(),
        is_rehearsal: false,
    };
    let parsed = spec.experiment()?;
    Ok((spec, parsed.trial_seconds_max))
}

/// The folder of one trial's database; removed with all that is in it.
pub struct TrialFolder(PathBuf);

impl TrialFolder {
    /// An empty folder of this path in a work folder.
    ///
    /// # Errors
    /// If it can't be made, as after an interrupt, which removes the work folder.
    pub fn create(path: PathBuf) -> Result<Self, Error> {
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).map_err(|source| Error::Io {
            path: path.clone(),
            source,
        })?;
        Ok(TrialFolder(path))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TrialFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The folder in which a run's trials work, named by the process that owns it; removed at the end.
/// Removes the remains of a killed run.
pub struct WorkFolder {
    path: PathBuf,
    others: Vec<String>,
}

/// Begins the names of work folders.
const WORK_PREFIX: &str = "work-";

impl WorkFolder {
    /// A work folder in `results`, which is created where it isn't there.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn create(results: &Path) -> Result<Self, Error> {
        let wrong = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::Io { path, source }
        };
        fs::create_dir_all(results).map_err(wrong(results))?;
        let own = std::process::id().to_string();
        let mut others = Vec::new();
        for entry in fs::read_dir(results).map_err(wrong(results))?.flatten() {
            let name = entry.file_name();
            let Some(owner) = name.to_str().and_then(|n| n.strip_prefix(WORK_PREFIX)) else {
                continue;
            };
            let is_alive = Path::new("/proc").join(owner).exists();
            if owner == own || (!is_alive && Path::new("/proc/self").exists()) {
                let _ = fs::remove_dir_all(entry.path());
            } else {
                others.push(owner.to_owned());
            }
        }
        let path = results.join(format!("{WORK_PREFIX}{own}"));
        let templates = path.join(inorder_engine::TEMPLATES);
        fs::create_dir_all(&templates).map_err(wrong(&templates))?;
        Ok(WorkFolder { path, others })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Ids of the processes that had a work folder beside it when it was made.
    pub fn others(&self) -> &[String] {
        &self.others
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests;
