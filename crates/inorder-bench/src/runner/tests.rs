//! Scheduling, with an executor that runs nothing.

use super::*;
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
        &AtomicBool::new(stop),
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
