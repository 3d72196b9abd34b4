//! Runs that are stopped, killed, resumed, or not alone.

use crate::common::{Place, Said, TINY, signal, start_in_group, start_with, wait, with_status};
use inorder_bench::results::{Sample, Status, Store};
use inorder_testing::is_installed;
use std::{
    fs,
    path::Path,
    process::{Child, Command},
};

/// Trials enough to be stopped among them, each long enough to be met at work.
fn long() -> Place {
    let text = TINY.replace("rows = 3000", "rows = 40_000");
    Place::with(&text.replace("repetitions = 2", "repetitions = 4"))
}

/// A run in a process group of its own, as a shell starts it.
fn start(place: &Place) -> Child {
    start_with(place, &["bench", "tiny.toml", "-q"])
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

/// Waits for something, interrupts the run, and asserts that it leaves nothing.
#[track_caller]
fn interrupted<T>(place: &Place, run: Child, name: &str, phase: &dyn Fn(u32) -> Option<T>) -> T {
    let id = run.id();
    let found = wait("phase to interrupt", || phase(id));
    signal(id, name);
    let said = Said::of(run.wait_with_output().expect("its end"));
    said.expect(130, &["inorder: stopped"]);
    assert!(place.names().is_empty(), "{:?}", place.names());
    found
}

#[test]
fn an_interrupt_of_the_rehearsal_leaves_nothing() {
    let before = r#"
[[table]]
name = "before"
rows = 100_000_000
columns = { a = "sequence" }
create = "CREATE TABLE before(a INTEGER)"

[[table]]
name = "t"
columns = { id = "key" }
create = "CREATE TABLE t(id {key} PRIMARY KEY)"
"#;
    let place = Place::with(&format!("{TINY}{before}"));
    for name in ["INT", "TERM"] {
        let run = start_with(&place, &["bench", "tiny.toml", "-q", "--force"]);
        let rehearsal = |id| {
            let folder = place.results().join(format!("work-{id}/rehearsal"));
            fs::read_dir(folder).ok()?.next()
        };
        interrupted(&place, run, name, &rehearsal).expect("a file");
    }
}

#[test]
fn an_interrupt_before_the_trials_ends_servers_and_what_makes_their_data() {
    let engine = inorder_engine::engine("postgres").expect("an engine");
    if !is_installed(engine) {
        return;
    }
    let place = Place::with(TINY);
    fs::write(
        place.path().join("schema.sql"),
        "CREATE TABLE t(id uuid PRIMARY KEY)",
    )
    .expect("a file");
    for (what, program) in [
        ("tiny.toml", "initdb"),
        ("tiny.toml", "postgres"),
        ("--schema=schema.sql", "initdb"),
    ] {
        let run = start_with(&place, &["bench", what, "--engine=postgres", "-q"]);
        let own = format!("inorder-server-{}-", run.id());
        let child = |id| {
            let is_it = |pid: &u32| {
                let read = |file| fs::read_to_string(format!("/proc/{pid}/{file}"));
                let asks = read("cmdline").is_ok_and(|line| line.contains("--version"));
                read("comm").is_ok_and(|name| name.trim() == program) && !asks
            };
            children(id).into_iter().find(is_it)
        };
        let child = interrupted(&place, run, "INT", &child);
        // The watchdog takes its time.
        wait("end of the server", || {
            let is_there = Path::new(&format!("/proc/{child}")).exists();
            let temporary = ["/tmp", "/var/tmp"].map(|folder| fs::read_dir(folder).expect("it"));
            let mut entries = temporary.into_iter().flatten().flatten();
            let is_left = entries.any(|e| e.file_name().to_string_lossy().starts_with(&own));
            (!is_there && !is_left).then_some(())
        });
    }
}

#[test]
fn an_interrupt_while_a_server_is_asked_for_its_version_is_no_missing_server() {
    let place = Place::with(TINY);
    // Another process writes it: a file that a fork of this one has open can't be run.
    let made = Command::new("sh")
        .args([
            "-c",
            r"printf '#!/bin/sh\ntouch asked\nsleep 2\n' > postgres; chmod +x postgres",
        ])
        .current_dir(place.path())
        .status();
    assert!(made.expect("sh").success());
    let mut command = place.inorder(&["bench", "tiny.toml", "--engine=postgres", "-q"]);
    let run = start_in_group(command.env("INORDER_POSTGRES", place.path()));
    interrupted(&place, run, "INT", &|_| {
        fs::metadata(place.path().join("asked")).ok()
    });
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
