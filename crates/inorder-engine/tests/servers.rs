//! Private servers end with the process that started them, however that ends.
#![cfg(target_os = "linux")]

mod common;

use common::{servers, typed};
use inorder_engine::{Batch, Database, Engine, Settings};
use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// Where a child of this test makes its database, and with which engine.
const CHILD_FOLDER: &str = "INORDER_TEST_FOLDER";
const CHILD_ENGINE: &str = "INORDER_TEST_ENGINE";

fn create(engine: &dyn Engine, folder: &Path) -> Box<dyn Database> {
    let database = engine.create(folder, &Settings::default()).unwrap();
    let ddl = typed(engine.name(), "CREATE TABLE t(x {int})");
    database.execute(&ddl).unwrap();
    database
}

fn is_running(pid: u32) -> bool {
    // A zombie has no command line.
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The run folder that a server's command line names.
fn run_folder(pid: u32) -> PathBuf {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    let line = String::from_utf8_lossy(&line).into_owned();
    let argument = line.split('\0').find(|a| a.contains("inorder-server-"));
    let path = argument.unwrap().rsplit('=').next().unwrap();
    let mut path = Path::new(path);
    while !path
        .file_name()
        .unwrap()
        .to_string_lossy()
        .starts_with("inorder-server-")
    {
        path = path.parent().unwrap();
    }
    path.to_owned()
}

#[test]
fn a_dropped_server_leaves_nothing() {
    for engine in servers() {
        let folder = common::folder();
        let database = create(engine, folder.path());
        let processes = database.processes();
        let run = run_folder(processes[0]);
        assert!(processes.iter().all(|&pid| is_running(pid)));
        assert!(run.is_dir());
        drop(database);
        wait_until("the server ends", || {
            !processes.iter().any(|&pid| is_running(pid))
        });
        assert!(!run.exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_panic_stops_the_server() {
    for engine in servers() {
        let folder = common::folder();
        let path = folder.path().to_owned();
        let (sender, processes) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let database = create(engine, &path);
            sender.send(database.processes()).unwrap();
            panic!("as this test wants it");
        });
        assert!(thread.join().is_err());
        let processes = processes.recv().unwrap();
        wait_until("the server ends", || {
            !processes.iter().any(|&pid| is_running(pid))
        });
    }
}

/// Does nothing but in a child of the tests below: makes a database, tells its processes, and waits.
#[test]
fn child() {
    let (Some(folder), Ok(name)) = (std::env::var_os(CHILD_FOLDER), std::env::var(CHILD_ENGINE))
    else {
        return;
    };
    let database = create(inorder_engine::engine(&name).unwrap(), folder.as_ref());
    println!("\nprocesses {:?}", database.processes());
    std::thread::sleep(Duration::from_secs(60));
    drop(database);
}

/// Starts the child; its server's process comes first.
fn start_child(engine: &dyn Engine, folder: &Path) -> (Child, Vec<u32>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(CHILD_FOLDER, folder)
        .env(CHILD_ENGINE, engine.name())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let told = lines
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("processes ").map(str::to_owned))
        .expect("the child tells its processes");
    let numbers = told.trim_matches(['[', ']']).split(", ");
    (child, numbers.map(|pid| pid.parse().unwrap()).collect())
}

#[test]
fn a_killed_owner_takes_its_server_along() {
    for engine in servers() {
        let folder = common::folder();
        let (mut child, processes) = start_child(engine, folder.path());
        let run = run_folder(processes[0]);
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until("the server ends", || {
            !processes.iter().any(|&pid| is_running(pid))
        });
        wait_until("the run folder goes", || !run.exists());
    }
}

#[test]
fn the_next_start_ends_what_even_the_watchdog_left() {
    for engine in servers() {
        let folder = common::folder();
        let (mut child, processes) = start_child(engine, folder.path());
        let run = run_folder(processes[0]);
        for watchdog in watchdogs_of(&run) {
            kill(watchdog);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // Nobody is left to stop it but a start, this one or that of another test.
        let other = common::folder();
        let database = create(engine, other.path());
        wait_until("the server ends", || {
            !processes.iter().any(|&pid| is_running(pid))
        });
        assert!(!run.exists());
        // The one in use was left alone.
        let mut reader = database.reader("SELECT count(*) FROM t").unwrap();
        assert_eq!(reader.query(&Batch::default(), 0).unwrap(), 1);
    }
}

/// The shells that watch over a run folder.
fn watchdogs_of(run: &Path) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line);
            line.contains("inorder-watchdog") && line.contains(run.to_str().unwrap())
        })
        .collect()
}

fn kill(pid: u32) {
    let killed = Command::new("/bin/sh")
        .args(["-c", &format!("kill -KILL {pid}")])
        .status();
    assert!(killed.unwrap().success());
}
