//! Runs with a time budget.

use crate::common::{Place, TINY, with_status};
use inorder_bench::results::{Run, Status, Store, Trial};
use serde_json::Value;

/// More trials than fit into a second: a process each, of some hundredths of a second.
const CUT: &[&str] = &["bench", "tiny.toml", "--repetitions=20", "--budget=1s"];

fn read(place: &Place, at: usize) -> Run {
    Store::read(&place.files()[at]).expect("a run")
}

/// A trial's place in the plan, and the bytes that it wrote.
fn wrote(trial: &Trial) -> (u64, u64, u32, u64, Option<f64>) {
    let bytes = trial.last("engine_written_bytes", "");
    (trial.id, trial.cell, trial.repetition, trial.seed, bytes)
}

#[test]
fn a_budget_leaves_out_what_resume_completes() {
    let place = Place::with(TINY);
    let said = place.run(&[CUT, &["--json"]].concat());
    let words = [
        "not all repetitions fit into 1 s; run: ",
        "complete it with",
    ];
    let said = said.expect(0, &words);
    let cut = read(&place, 0);
    let done = with_status(&cut, Status::Done);
    assert!((1..60).contains(&done.len()), "{} trials", done.len());
    // What was run is a beginning of the plan.
    assert!(
        cut.trials[..done.len()]
            .iter()
            .all(|t| t.status == Status::Done)
    );
    assert_eq!(cut.meta.budget_s, Some(1));
    let report: Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!(report["left_out"][0]["experiment"], "tiny");
    assert_eq!(report["left_out"][0]["repetitions_planned"], 20);
    let file = place.file();
    for format in ["term", "md", "html"] {
        let file = file.to_str().expect("a path");
        let said = place.run(&["report", file, "--format", format]);
        assert!(
            said.stdout.contains("not all repetitions fit into 1 s"),
            "{format}"
        );
    }

    // The newest run that has trials left is the one.
    let before: Vec<_> = done.iter().map(|trial| wrote(trial)).collect();
    place
        .run(&["bench", "--resume"])
        .expect(0, &["trials left"]);
    let whole = read(&place, 0);
    assert_eq!(with_status(&whole, Status::Done).len(), 60);
    assert_eq!(whole.meta.budget_s, None);
    let after: Vec<_> = whole.trials.iter().map(wrote).collect();
    assert_eq!(after[..before.len()], before);
}

#[test]
fn a_rerun_repeats_what_a_budget_chose() {
    let place = Place::with(TINY);
    place.run(&[CUT, &["-q"]].concat()).expect(0, &[]);
    let file = place.file();
    place
        .run(&["rerun", file.to_str().expect("a path"), "-q"])
        .expect(0, &[]);
    let (first, second) = (read(&place, 0), read(&place, 1));
    let of = |run: &Run| -> Vec<_> {
        let done = with_status(run, Status::Done).into_iter();
        done.map(wrote).collect()
    };
    assert_eq!(of(&first), of(&second));
    assert_eq!(second.trials.len(), of(&first).len());
}

#[test]
fn an_answer_is_said_as_soon_as_there_is_one() {
    let place = Place::with(TINY);
    let said = place.run(&["bench", "tiny.toml", "--json"]).expect(
        0,
        &[
            "tiny: Which of two keys writes less?",
            "  > On sqlite, choose \"uuid7\": ",
        ],
    );
    assert_eq!(said.stderr.matches("  > ").count(), 1, "{}", said.stderr);
    serde_json::from_str::<Value>(&said.stdout).expect("nothing but JSON");
    let quiet = place.run(&["bench", "tiny.toml", "-q"]).expect(0, &[]);
    assert!(!quiet.stderr.contains("  > "), "{}", quiet.stderr);
}

/// The trials that a dry run of all built-in experiments shows.
fn planned(place: &Place, arguments: &[&str]) -> usize {
    let said = place.run(&[&["bench", "--dry-run", "--json"], arguments].concat());
    let plan: Value = serde_json::from_str(&said.expect(0, &[]).stdout).expect("JSON");
    plan["trials"].as_array().expect("a list").len()
}

#[test]
fn only_a_run_of_everything_has_a_budget_unasked() {
    let place = Place::with(TINY);
    let whole = planned(&place, &["--budget", "none"]);
    let (default, as_told) = (planned(&place, &[]), planned(&place, &["--budget=85s"]));
    assert_eq!(default, as_told);
    assert!(planned(&place, &["--budget=10"]) < default);
    assert!(default < planned(&place, &["--budget=1h"]));
    // Asking for something is no budget.
    let once = planned(&place, &["--repetitions=1"]);
    assert_eq!(planned(&place, &["--repetitions=3"]), 3 * once);
    assert_eq!(
        planned(&place, &["keys"]),
        planned(&place, &["keys", "--budget=none"])
    );
    assert!(planned(&place, &["--scale=full"]) > whole);
    // Five repetitions of everything, where there is time.
    assert_eq!(planned(&place, &["--budget=1h"]), 5 * once);
    let said = place.run(&["bench", "--dry-run"]).expect(0, &[]);
    let words = "expected here: not all repetitions fit into 85 s; run: ";
    assert!(said.stdout.contains(words), "{}", said.stdout);
}
