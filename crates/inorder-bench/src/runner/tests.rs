//! Scheduling, with an executor that runs nothing.

use super::*;
use std::cell::Cell;

use crate::{engines::Engines, experiment::Experiment, plan, results::Sample};

const EXPERIMENT: &str = r#"
title = "Keys"
question = "Which key costs least?"
expect = "The ordered ones."
[factors]
key = ["uuid4", "ulid"]
"#;

/// Answers with the trial's seed; fails where `fails` says so.
struct Fake {
    seen: Vec<String>,
    fails: fn(usize) -> bool,
}

impl Executor for Fake {
    fn run(
        &mut self,
        spec: &TrialSpec,
        _seconds_max: u64,
        on_rows: &mut dyn FnMut(u64),
    ) -> Result<Outcome, String> {
        assert!(spec.folder.is_dir(), "the trial has a folder to work in");
        self.seen.push(spec.levels["key"].clone());
        on_rows(1);
        if (self.fails)(self.seen.len()) {
            return Err("out of luck".to_owned());
        }
        Ok(Outcome {
            samples: vec![Sample {
                probe: "rows_stored".to_owned(),
                value: Some(spec.seed as f64),
                ..Sample::default()
            }],
            ..Outcome::default()
        })
    }
}

struct Silent;
impl Observer for Silent {}

fn planned() -> Run {
    let experiment =
        Experiment::parse("keys.toml", EXPERIMENT, Scale::Quick, &Overrides::default()).unwrap();
    let plan = plan::plan(&[experiment], 1, &Engines::default()).unwrap();
    Run {
        meta: crate::results::Meta {
            scale: "quick".to_owned(),
            ..Default::default()
        },
        experiments: plan.experiments,
        cells: plan.cells,
        trials: plan.trials,
    }
}

fn run_with(
    folder: &Path,
    run: &mut Run,
    fails: fn(usize) -> bool,
    stop: bool,
) -> (Fake, Result<End, Error>) {
    let path = folder.join("run.db");
    let store = match path.exists() {
        true => Store::open(&path).unwrap(),
        false => Store::create(&path, run).unwrap(),
    };
    let mut fake = Fake {
        seen: Vec::new(),
        fails,
    };
    let end = run_trials(
        &store,
        run,
        folder,
        &mut fake,
        &mut Silent,
        &Bounds {
            stop: &AtomicBool::new(stop),
            budget: None,
            clock: &|| Duration::ZERO,
        },
    );
    (fake, end)
}

#[test]
fn every_trial_runs_once_and_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = planned();
    let (fake, end) = run_with(folder.path(), &mut run, |_| false, false);
    assert_eq!(end.unwrap(), End::Complete);
    // Two keys and the baseline's twin, three times each.
    assert_eq!(fake.seen.len(), 9);
    assert_eq!(fake.seen.iter().filter(|key| *key == "uuid4").count(), 6);
    let kept = Store::read(&folder.path().join("run.db")).unwrap();
    assert_eq!(kept, run);
    assert!(kept.trials.iter().all(|trial| trial.status == Status::Done));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "only the result file is left");
}

#[test]
fn a_stopped_run_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = planned();
    let (_, end) = run_with(folder.path(), &mut run, |n| n == 2, false);
    assert_eq!(end.unwrap(), End::Complete);
    let mut kept = Store::read(&folder.path().join("run.db")).unwrap();
    let failed: Vec<_> = kept
        .trials
        .iter()
        .filter(|t| t.status == Status::Failed)
        .collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].error.as_deref(), Some("out of luck"));
    let (fake, end) = run_with(folder.path(), &mut kept, |_| false, false);
    assert_eq!(end.unwrap(), End::Complete);
    assert_eq!(fake.seen.len(), 1, "only the failed one is run again");
}

#[test]
fn a_stop_keeps_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = planned();
    let (fake, end) = run_with(folder.path(), &mut run, |_| false, true);
    assert_eq!(end.unwrap(), End::Stopped);
    assert!(fake.seen.is_empty());
}

#[test]
fn three_failures_in_a_row_end_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = planned();
    let (fake, end) = run_with(folder.path(), &mut run, |_| true, false);
    assert!(end.unwrap_err().to_string().contains("out of luck"));
    assert_eq!(fake.seen.len(), 3);
}

/// Trials of so many seconds, on a clock of their own, that measure some number.
struct Timed<'a> {
    now: &'a Cell<Duration>,
    trial: Duration,
    measures: f64,
}

impl Executor for Timed<'_> {
    fn run(
        &mut self,
        _spec: &TrialSpec,
        _seconds_max: u64,
        _on_rows: &mut dyn FnMut(u64),
    ) -> Result<Outcome, String> {
        self.now.set(self.now.get() + self.trial);
        Ok(Outcome {
            samples: vec![Sample {
                probe: "rows_stored".to_owned(),
                value: Some(self.measures),
                ..Sample::default()
            }],
            ..Outcome::default()
        })
    }
}

/// Runs what is left with a budget; returns how it ended, and when.
fn run_timed(
    folder: &Path,
    run: &mut Run,
    trial_s: u64,
    budget_s: Option<u64>,
    measures: f64,
) -> (End, Duration) {
    let path = folder.join("run.db");
    let store = match path.exists() {
        true => Store::open(&path).unwrap(),
        false => Store::create(&path, run).unwrap(),
    };
    let now = Cell::new(Duration::ZERO);
    let mut executor = Timed {
        now: &now,
        trial: Duration::from_secs(trial_s),
        measures,
    };
    let bounds = Bounds {
        stop: &AtomicBool::new(false),
        budget: budget_s.map(Duration::from_secs),
        clock: &|| now.get(),
    };
    let end = run_trials(&store, run, folder, &mut executor, &mut Silent, &bounds).unwrap();
    assert_eq!(Store::read(&path).unwrap(), *run, "the file is as the run");
    (end, now.get())
}

fn done(run: &Run) -> Vec<u64> {
    let done = run.trials.iter().filter(|t| t.status == Status::Done);
    done.map(|trial| trial.id).collect()
}

#[test]
fn a_budget_ends_a_run_that_can_be_completed() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = planned();
    // A repetition has three trials of ten seconds; the third would end after the budget.
    let (end, at) = run_timed(folder.path(), &mut run, 10, Some(80), 1.0);
    assert_eq!((end, at), (End::OutOfTime, Duration::from_secs(60)));
    assert_eq!(done(&run), [1, 2, 3, 4, 5, 6]);
    assert_eq!(run.meta.budget_s, Some(80));
    assert!(run.meta.finished_unix_s.is_some());
    let (end, at) = run_timed(folder.path(), &mut run, 10, None, 1.0);
    assert_eq!((end, at), (End::Complete, Duration::from_secs(30)));
    assert_eq!(run.meta.budget_s, None);
}

#[test]
fn a_budget_that_suffices_leaves_nothing_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = planned();
    let (end, _) = run_timed(folder.path(), &mut run, 10, Some(90), 1.0);
    assert_eq!((end, run.meta.budget_s), (End::Complete, None));
}

#[test]
fn a_machine_half_as_fast_ends_in_time_with_fewer_trials() {
    for (trial_s, wanted) in [(2, 9), (4, 9), (8, 6), (16, 3), (100, 1)] {
        let folder = tempfile::tempdir().unwrap();
        let mut run = planned();
        let (_, at) = run_timed(folder.path(), &mut run, trial_s, Some(60), 1.0);
        assert_eq!(done(&run).len(), wanted, "trials of {trial_s} s");
        assert!(at < Duration::from_secs(60 + trial_s), "{at:?}");
    }
}

#[test]
fn what_is_run_does_not_depend_on_what_is_measured() {
    let of = |measures| {
        let folder = tempfile::tempdir().unwrap();
        let mut run = planned();
        run_timed(folder.path(), &mut run, 10, Some(70), measures);
        done(&run)
    };
    assert_eq!(of(1.0), of(1e9));
}

#[test]
fn trials_of_a_repetition_share_a_seed_and_an_order_of_their_own() {
    let run = planned();
    for repetition in 0..3 {
        let block: Vec<_> = run
            .trials
            .iter()
            .filter(|trial| trial.repetition == repetition)
            .collect();
        assert_eq!(block.len(), 3);
        assert!(block.iter().all(|trial| trial.seed == block[0].seed));
    }
    assert_ne!(run.trials[0].seed, run.trials[8].seed);
}
