//! Runs that are stopped, killed, resumed, or not alone.

use crate::common::{Place, Said, TINY, wait, with_status};
use inorder_bench::results::{Sample, Status, Store};
use std::{
    fs,
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, Stdio},
};

/// Trials enough to be stopped among them, each long enough to be met at work.
fn long() -> Place {
    let text = TINY.replace("rows = 3000", "rows = 40_000");
    Place::with(&text.replace("repetitions = 2", "repetitions = 4"))
}

/// A run in a process group of its own, as a shell starts it.
fn start(place: &Place) -> Child {
    place
        .inorder(&["bench", "tiny.toml", "-q"])
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// Processes whose parent is this one.
fn children(parent: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name in brackets may hold anything; state and parent follow it.
        let after = status.rsplit_once(") ").map_or("", |(_, after)| after);
        after.split(' ').nth(1) == Some(&parent.to_string())
    })
    .collect()
}

/// Sends a signal to every process of a group.
fn signal(group: u32, name: &str) {
    let status = Command::new("kill")
        .args([&format!("-{name}"), "--", &format!("-{group}")])
        .status();
    assert!(status.expect("kill(1)").success());
}

/// Returns the samples of finished trials.
fn measured(file: &Path) -> Vec<(u64, Vec<Sample>)> {
    let run = Store::read(file).expect("a run");
    let done = with_status(&run, Status::Done).into_iter();
    done.map(|trial| (trial.id, trial.samples.clone()))
        .collect()
}

/// Resumes, and asserts that what was missing was run and nothing else.
fn resumes(place: &Place, file: &Path, before: &[(u64, Vec<Sample>)]) {
    place
        .run(&["bench", "--resume"])
        .expect(0, &["trials left"]);
    let after = measured(file);
    assert_eq!(after.len(), 12);
    assert!(
        before.iter().all(|trial| after.contains(trial)),
        "a trial was run again"
    );
    assert_eq!(place.names().len(), 2, "{:?}", place.names());
}

#[test]
fn a_killed_run_keeps_its_trials_and_leaves_no_process() {
    let place = long();
    let mut run = start(&place);
    let file = place.wait_for_done(2);
    let trials = wait("trial at work", || {
        let children = children(run.id());
        (!children.is_empty()).then_some(children)
    });
    run.kill().expect("a process to kill");
    run.wait().expect("its end");
    wait("end of the trial", || {
        let is_there = |pid: &u32| Path::new(&format!("/proc/{pid}")).exists();
        (!trials.iter().any(is_there)).then_some(())
    });
    let before = measured(&file);
    assert!((2..12).contains(&before.len()), "{}", before.len());
    assert!(place.names().iter().any(|name| name.starts_with("work-")));
    resumes(&place, &file, &before);
}

#[test]
fn ctrl_c_keeps_what_is_done_and_says_how_to_go_on() {
    let place = long();
    let run = start(&place);
    let file = place.wait_for_done(2);
    signal(run.id(), "INT");
    let said = Said::of(run.wait_with_output().expect("its end"));
    let go_on = format!("bench --resume {}", file.display());
    said.expect(130, &["stopped; finished trials are kept", &go_on]);
    let stopped = Store::read(&file).expect("a run");
    assert!(with_status(&stopped, Status::Failed).is_empty());
    assert!(
        file.with_extension("html").exists(),
        "there is a report of what is done"
    );
    assert_eq!(place.names().len(), 2, "{:?}", place.names());
    resumes(&place, &file, &measured(&file));
}

#[test]
fn a_run_that_goes_on_is_not_resumed_by_another() {
    let place = long();
    let run = start(&place);
    let file = place.wait_for_done(1);
    let path = file.to_str().expect("a path");
    place
        .run(&["bench", "--resume", path])
        .expect(1, &["another inorder is running its trials"]);
    place.run(&["report", path]).expect(0, &[]);
    signal(run.id(), "TERM");
    Said::of(run.wait_with_output().expect("its end")).expect(130, &[]);
}

#[test]
fn two_runs_in_one_folder_keep_apart() {
    let place = long();
    let first = start(&place);
    place.wait_for_done(1);
    let meets = format!("process {} also runs trials in this folder", first.id());
    place
        .run(&["bench", "tiny.toml", "--set", "rows=200", "-q"])
        .expect(0, &[&meets]);
    Said::of(first.wait_with_output().expect("its end")).expect(0, &[]);
    let files = place.files();
    assert_eq!(files.len(), 2);
    for file in files {
        assert_eq!(measured(&file).len(), 12);
    }
}

#[test]
fn nothing_is_left_to_resume() {
    let place = Place::with(TINY);
    place.run(&["bench", "tiny.toml", "-q"]).expect(0, &[]);
    place
        .run(&["bench", "--resume"])
        .expect(2, &["no unfinished run in"]);
    let file = place.file();
    let before = fs::read(&file).expect("a file");
    place
        .run(&["bench", "--resume", file.to_str().expect("a path")])
        .expect(2, &["all 6 trials are done", "inorder report"]);
    assert_eq!(fs::read(&file).expect("a file"), before);
}
