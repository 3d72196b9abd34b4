//! Scheduling without a clock: durations are made up.

use super::*;
use crate::{
    engines::Engines,
    experiment::{Overrides, Scale},
    experiments::built_in,
    results::{Trial, left_out},
    run::Request,
};
use std::collections::BTreeMap;

fn request(wanted: &[&str], repetitions: Option<u32>) -> Request {
    let wanted: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
    let overrides = Overrides {
        repetitions,
        ..Overrides::default()
    };
    Request {
        experiments: built_in(&wanted, Scale::Quick, &overrides).unwrap(),
        engines: Engines::default(),
        scale: Scale::Quick,
        overrides,
        seed: 1,
        command: Vec::new(),
    }
}

/// The trials that the default budget should admit.
fn forecast(request: &Request) -> Run {
    let plan = request.plan_for_budget().unwrap();
    request.forecast(&plan, Budget::DEFAULT).unwrap()
}

/// Nothing run of the plan for a budget.
fn planned(wanted: &[&str]) -> Run {
    let request = request(wanted, None);
    let mut run = forecast(&request);
    run.meta.budget_s = None;
    for trial in &mut run.trials {
        trial.status = Status::Planned;
    }
    run
}

/// Runs a plan with a budget on a machine whose trials take so many seconds, by experiment and position; returns when
/// it ended, and the longest trial.
fn simulate(run: &mut Run, budget_s: u64, seconds: impl Fn(&str, usize) -> f64) -> (f64, f64) {
    let mut pace = Pace::new(run, Some(Duration::from_secs(budget_s))).unwrap();
    let (mut now, mut longest) = (0.0, 0.0_f64);
    for at in 0..run.trials.len() {
        let experiment = run.cell(run.trials[at].cell).unwrap().experiment.clone();
        if pace.admits(at, Duration::from_secs_f64(now)) {
            let took = seconds(&experiment, at);
            pace.took(at, Duration::from_secs_f64(took));
            run.trials[at].status = Status::Done;
            now += took;
            longest = longest.max(took);
        }
    }
    run.meta.budget_s = Some(budget_s);
    (now, longest)
}

/// Repetitions that are complete, by experiment.
fn repetitions(run: &Run) -> BTreeMap<&str, u32> {
    let of = |name: &str| match left_out::of_experiment(run, name) {
        Some(left) => left.repetitions_run,
        None => TIME_REPETITIONS_MIN as u32,
    };
    let names = run.experiments.iter().map(|e| e.name.as_str());
    names.map(|name| (name, of(name))).collect()
}

/// The experiment and the repetition of each trial, in order, neighbours that are equal once.
fn blocks(run: &Run) -> Vec<(&str, u32)> {
    let mut blocks: Vec<(&str, u32)> = Vec::new();
    for trial in &run.trials {
        blocks.push((&run.cell(trial.cell).unwrap().experiment, trial.repetition));
    }
    blocks.dedup();
    blocks
}

#[test]
fn a_budget_is_read_with_its_unit() {
    let seconds = |text: &str| text.parse::<Budget>().map(|budget| budget.0);
    let of = |seconds| Ok(Some(Duration::from_secs(seconds)));
    assert_eq!(seconds("60"), of(60));
    assert_eq!(seconds("90s"), of(90));
    assert_eq!(seconds("5m"), of(300));
    assert_eq!(seconds("2h"), of(7200));
    assert_eq!(seconds("none"), Ok(None));
    for wrong in [
        "",
        "s",
        "abc",
        "-1",
        "1.5m",
        "5 m",
        "1d",
        "99999999999999999h",
    ] {
        let error = seconds(wrong).unwrap_err();
        assert!(error.contains("write seconds"), "{wrong}: {error}");
    }
    assert!(seconds("0").unwrap_err().contains("no trial"));
}

#[test]
fn intervals_of_claims_come_before_experiments_without_claims() {
    let run = planned(&[]);
    let blocks = blocks(&run);
    let experiments = run.experiments.len();
    let names: Vec<&str> = run.experiments.iter().map(|e| e.name.as_str()).collect();
    let claims = |name: &str| !run.experiment(name).unwrap().claims.is_empty();
    let with_claims = names.iter().filter(|name| claims(name)).count();
    // Two repetitions of each experiment that claims rest on, the shortest experiment first.
    let (first, rest) = blocks.split_at(2 * with_claims);
    for pair in first.chunks(2) {
        let [(name, 0), (same, 1)] = pair else {
            panic!("{pair:?}");
        };
        assert!(claims(name) && name == same, "{pair:?}");
    }
    // Then the others, once each, in their order.
    let others: Vec<&str> = names.iter().copied().filter(|name| !claims(name)).collect();
    let (answers, third) = rest.split_at(experiments - with_claims);
    assert!(answers.iter().all(|(_, repetition)| *repetition == 0));
    let answers: Vec<&str> = answers.iter().map(|(name, _)| *name).collect();
    assert_eq!(answers, others);
    // Each repetition is one block, whole, and there are five of each. Verdicts on time follow.
    assert_eq!(blocks.len(), 5 * experiments);
    assert_eq!(
        third[..3],
        [("documents", 2), ("documents", 3), ("documents", 4)]
    );
    let ids: Vec<u64> = run.trials.iter().map(|trial| trial.id).collect();
    assert_eq!(ids, (1..=run.trials.len() as u64).collect::<Vec<_>>());
}

#[test]
fn repetitions_of_the_command_line_are_kept() {
    let request = request(&["keys", "presort"], Some(2));
    let run = Plan::of(&forecast(&request));
    assert!(run.trials.iter().all(|trial| trial.repetition < 2));
}

#[test]
fn a_run_ends_one_trial_after_its_budget_at_most_on_any_machine() {
    let plan = planned(&[]);
    for slower in [0.1, 1.0, 2.0, 4.0, 30.0] {
        for uneven in 0..4_usize {
            let mut run = plan.clone();
            // From a fifth to twice of 0.2 s, another for each trial: no estimate is right.
            let seconds = |_: &str, at: usize| {
                let spread = ((at * 7919 + uneven * 104_729) % 10) as f64 / 5.0 + 0.2;
                slower * 0.2 * spread
            };
            let (end, longest) = simulate(&mut run, 60, seconds);
            assert!(end <= 60.0 + longest, "{slower} times slower: {end} s");
            let done = repetitions(&run);
            let has_claims = |name: &&str| !run.experiment(name).unwrap().claims.is_empty();
            for (name, run) in &done {
                let least = match (slower, has_claims(name)) {
                    (..=1.0, true) => 2,
                    (..=1.0, false) => 1,
                    _ => 0,
                };
                assert!(*run >= least, "{slower}, {name}: {done:?}");
            }
        }
    }
}

/// Seconds of a mean trial: its CPU time on two cores on 22 November 2026, in proportion to 76 s for the plan of the files. Those
/// whose sizes changed were measured on 26 November on a machine where the others took 2.3 times as long, and divided by it.
fn measured_s(experiment: &str) -> f64 {
    match experiment {
        "keys" | "int-or-integer" | "same-millisecond" => 0.13,
        "text-or-blob" | "presort-cache" | "payload" => 0.1,
        "watchlist" => 0.23,
        "presort" => 0.25,
        "watchlist-scale" => 0.2,
        "disk-io" => 0.29,
        "presort-batch" => 0.12,
        "lookups" | "v4-then-v7" => 0.15,
        "uuid-beside-integer" => 0.21,
        "documents" => 0.18,
        other => panic!("{other} isn't measured"),
    }
}

#[test]
fn a_minute_answers_everything_on_a_machine_half_as_fast() {
    let plan = planned(&[]);
    let run_on = |slower: f64| {
        let mut run = plan.clone();
        let (end, _) = simulate(&mut run, 60, |name, _| slower * measured_s(name));
        assert!(end < 62.0, "{slower} times slower: {end} s");
        run
    };
    let quiet = run_on(1.0);
    let done = repetitions(&quiet);
    for experiment in &quiet.experiments {
        let least = if experiment.claims.is_empty() { 1 } else { 2 };
        assert!(done[experiment.name.as_str()] >= least, "{done:?}");
    }
    assert_eq!((done["watchlist"], done["documents"]), (5, 5), "{done:?}");
    // What claims rest on has its intervals on a machine half as fast, too.
    let slow = run_on(2.0);
    let done = repetitions(&slow);
    let claims = slow.experiments.iter().filter(|e| !e.claims.is_empty());
    for experiment in claims {
        assert!(done[experiment.name.as_str()] >= 2, "{done:?}");
    }
}

#[test]
fn a_fast_machine_runs_everything() {
    let mut run = planned(&[]);
    simulate(&mut run, 60, |_, _| 0.05);
    assert!(run.trials.iter().all(|trial| trial.status == Status::Done));
    assert_eq!(left_out::of_run(&run), []);
    assert_eq!(left_out::in_words(&run), None);
}

#[test]
fn what_does_not_fit_is_left_out_whole_and_what_does_is_run() {
    let mut run = planned(&["keys", "watchlist", "documents"]);
    // One repetition: keys 16 trials, watchlist 15, documents 5.
    let seconds = |name: &str, _: usize| if name == "watchlist" { 2.0 } else { 0.2 };
    let (end, _) = simulate(&mut run, 60, seconds);
    assert!(end <= 60.0, "{end}");
    // Two of watchlist don't fit; documents and keys go on without it.
    assert_eq!(
        repetitions(&run),
        BTreeMap::from([("documents", 5), ("keys", 5), ("watchlist", 1)])
    );
    let words = left_out::in_words(&run).unwrap();
    assert_eq!(
        words,
        "not all repetitions fit into 60 s; run: 1 of 5 of watchlist"
    );
    let reason = left_out::of_experiment(&run, "watchlist").unwrap().reason();
    assert_eq!(
        reason,
        "1 of 5 repetitions run: `inorder bench watchlist --repetitions 5` completes it"
    );
}

#[test]
fn the_first_trial_begins_whatever_the_budget() {
    let mut run = planned(&["keys"]);
    let (end, _) = simulate(&mut run, 1, |_, _| 100.0);
    assert_eq!(end, 100.0);
    let words = left_out::in_words(&run).unwrap();
    assert_eq!(words, "not all repetitions fit into 1 s; run: none of keys");
}

#[test]
fn the_plan_of_a_run_that_was_cut_has_what_was_run() {
    let mut run = planned(&["watchlist", "documents", "presort"]);
    let seconds = |name: &str, _: usize| if name == "presort" { 20.0 } else { 0.1 };
    simulate(&mut run, 60, seconds);
    let again = Plan::of(&run);
    let done = run.trials.iter().filter(|t| t.status == Status::Done);
    let done: Vec<_> = done.map(Trial::again).collect();
    assert_eq!(again.trials, done);
    assert!(again.trials.len() < run.trials.len());
    assert_eq!(again.experiments.len(), 2);
    // A run that was stopped has its whole plan.
    run.meta.budget_s = None;
    assert_eq!(Plan::of(&run).trials.len(), run.trials.len());
}

#[test]
fn estimates_follow_what_was_measured() {
    let run = planned(&["keys", "documents"]);
    let mut pace = Pace::new(&run, None).unwrap();
    let whole = pace.outlook(Duration::ZERO);
    assert_eq!(whole.trials, run.trials.len());
    assert!(pace.admits(0, Duration::ZERO));
    let first = run.trials[0].cell;
    pace.took(0, Duration::from_secs(1000));
    let slow = pace.outlook(Duration::from_secs(1000));
    assert_eq!(slow.trials, run.trials.len() - 1);
    assert!(slow.left > 10 * whole.left, "{slow:?} {whole:?}");
    // Trials of the same cell are expected to take as long.
    let same = run
        .trials
        .iter()
        .filter(|trial| trial.cell == first)
        .count() as u64
        - 1;
    assert!(slow.left > Duration::from_secs(1000 * same));
}
