//! Private servers end with the process that started them, however that ends.
#![cfg(target_os = "linux")]

mod common;

use common::{integers, servers, typed};
use inorder_engine::{Batch, Database, Engine, Retry, Settings, Write};
use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// The database folder and engine of a child process of this test.
const CHILD_FOLDER: &str = "INORDER_TEST_FOLDER";
const CHILD_ENGINE: &str = "INORDER_TEST_ENGINE";
/// Whether it writes meanwhile.
const CHILD_WRITES: &str = "INORDER_TEST_WRITES";

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

/// Whether it is stopped (proc_pid_stat(5), field 3).
fn is_stopped(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    after_name.trim_start().starts_with('T')
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The run folders that servers' command lines name.
fn run_folders(processes: &[u32]) -> Vec<PathBuf> {
    let is_run = |path: &&Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("inorder-server-")
    };
    let mut folders = Vec::new();
    for pid in processes {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        let named = line.split('\0').find(|a| a.contains("inorder-server-"));
        let path = named.and_then(|argument| argument.rsplit('=').next());
        let run = path.and_then(|path| Path::new(path).ancestors().find(is_run));
        folders.extend(run.map(Path::to_owned));
    }
    folders
}

#[test]
fn a_dropped_server_leaves_nothing() {
    for engine in servers() {
        let folder = common::folder();
        let database = create(engine, folder.path());
        let processes = database.processes();
        let runs = run_folders(&processes);
        assert!(!runs.is_empty());
        assert!(processes.iter().all(|&pid| is_running(pid)));
        assert!(runs.iter().all(|run| run.is_dir()));
        drop(database);
        wait_until("the server ends", || {
            !processes.iter().any(|&pid| is_running(pid))
        });
        assert!(!runs.iter().any(|run| run.exists()));
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
    let engine = inorder_engine::engine(&name).unwrap();
    if std::env::var_os(CHILD_WRITES).is_some() {
        return write_for_ever(engine, folder.as_ref());
    }
    let database = create(engine, folder.as_ref());
    println!("\nprocesses {:?}", database.processes());
    std::thread::sleep(Duration::from_secs(60));
    drop(database);
}

/// Writes until it is killed, with the first shard held back where there are shards.
fn write_for_ever(engine: &dyn Engine, folder: &Path) {
    let is_sharded = engine.name() == "postgres-sharded";
    let settings = Settings {
        first_shard_cpu_percent: if is_sharded { 1 } else { 100 },
        write: if is_sharded {
            Write::Routed
        } else {
            Write::Bulk
        },
        ..Settings::default()
    };
    let database = engine.create(folder, &settings).unwrap();
    let ddl = typed(engine.name(), "CREATE TABLE t(x {int} PRIMARY KEY)");
    database.execute(&ddl).unwrap();
    let mut writer = database.writer("t", &["x"], Retry::default()).unwrap();
    println!("\nprocesses {:?}", database.processes());
    for first in (0..).step_by(10_000) {
        writer.begin().unwrap();
        writer
            .insert(&integers(first..first + 10_000), 0..10_000)
            .unwrap();
        writer.commit().unwrap();
    }
}

/// Starts the child; its server's process comes first.
fn start_child(engine: &dyn Engine, folder: &Path) -> (Child, Vec<u32>) {
    start_child_with(
        engine,
        folder,
        &mut Command::new(std::env::current_exe().unwrap()),
    )
}

fn start_child_with(
    engine: &dyn Engine,
    folder: &Path,
    command: &mut Command,
) -> (Child, Vec<u32>) {
    let mut child = command
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
        let runs = run_folders(&processes);
        assert!(!runs.is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until("the server ends", || {
            !processes.iter().any(|&pid| is_running(pid))
        });
        wait_until("the run folders go", || {
            !runs.iter().any(|run| run.exists())
        });
    }
}

#[test]
fn an_owner_killed_while_it_writes_leaves_no_server_not_even_one_that_is_held_back() {
    for engine in servers() {
        let folder = common::folder();
        let beside = folder.path().join("beside");
        fs::write(&beside, "not ours").unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env(CHILD_WRITES, "1");
        let (mut child, processes) = start_child_with(engine, folder.path(), &mut command);
        let runs = run_folders(&processes);
        if engine.name() == "postgres-sharded" {
            wait_until("a shard is stopped", || {
                processes.iter().any(|&pid| is_stopped(pid))
            });
        } else {
            std::thread::sleep(Duration::from_millis(300));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until("the servers end", || {
            !processes.iter().any(|&pid| is_running(pid))
        });
        wait_until("the run folders go", || {
            !runs.iter().any(|run| run.exists())
        });
        assert_eq!(fs::read_to_string(&beside).unwrap(), "not ours");
    }
}

#[test]
fn the_next_start_ends_what_even_the_watchdog_left() {
    for engine in servers() {
        let folder = common::folder();
        let (mut child, processes) = start_child(engine, folder.path());
        let runs = run_folders(&processes);
        assert!(!runs.is_empty());
        for watchdog in runs.iter().flat_map(|run| watchdogs_of(run)) {
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
        assert!(!runs.iter().any(|run| run.exists()));
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
