//! A folder to run in, and what there is to ask of it.

use inorder_bench::results::{Run, Status, Store, Trial};
use std::{
    fs,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Two keys and the baseline's twin; a trial takes some hundredths of a second.
pub const TINY: &str = r#"
title = "Two keys"
question = "Which of two keys writes less?"
expect = "The ordered one."

[factors]
key = ["uuid4", "uuid7"]

[fixed]
rows = 3000
rows_per_transaction = 100
cache_kib = 64

[quick]
repetitions = 2
"#;

/// A folder with an experiment, and one for results.
pub struct Place {
    folder: TempDir,
}

impl Place {
    /// A place with this experiment as `tiny.toml`.
    pub fn with(experiment: &str) -> Self {
        Self::in_folder(tempfile::tempdir().expect("a folder"), experiment)
    }

    /// A place for runs on servers, in memory if tests keep the data of servers there. The thousand files of each data folder
    /// take half of the CPU time of a small run on a disk.
    pub fn for_servers(experiment: &str) -> Self {
        Self::in_folder(inorder_testing::reachable_folder(), experiment)
    }

    fn in_folder(folder: TempDir, experiment: &str) -> Self {
        let place = Place { folder };
        fs::write(place.path().join("tiny.toml"), experiment).expect("a file");
        place
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of results.
    pub fn results(&self) -> PathBuf {
        self.path().join("results")
    }

    /// `inorder` with its results here, whatever the environment says.
    pub fn inorder(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_inorder"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env("INORDER_DIR", self.results())
            .env_remove("INORDER_BUDGET")
            .env_remove("INORDER_SCALE")
            .env_remove("INORDER_URL")
            .env_remove("INORDER_SEED");
        command
    }

    /// Runs `inorder` to its end.
    pub fn run(&self, arguments: &[&str]) -> Said {
        Said::of(self.inorder(arguments).output().expect("it starts"))
    }

    /// Names in the folder of results, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.results()).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// The result files, oldest first.
    pub fn files(&self) -> Vec<PathBuf> {
        let is_result = |name: &String| name.ends_with(".db");
        let names = self.names().into_iter().filter(is_result);
        names.map(|name| self.results().join(name)).collect()
    }

    /// The only result file.
    pub fn file(&self) -> PathBuf {
        let files = self.files();
        assert_eq!(files.len(), 1, "{files:?}");
        files.into_iter().next().expect("one")
    }

    /// Waits until there is a result file: rehearsals are over.
    pub fn wait_for_file(&self) {
        wait("result file", || self.files().into_iter().next());
    }

    /// Waits until the only result file has so many trials done, and returns it.
    pub fn wait_for_done(&self, wanted: usize) -> PathBuf {
        wait("trials that are done", || {
            let file = self.files().into_iter().next()?;
            let run = Store::read(&file).ok()?;
            (with_status(&run, Status::Done).len() >= wanted).then_some(file)
        })
    }
}

/// The output of a process, and its exit code.
pub struct Said {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Said {
    pub fn of(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Said {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Asserts the exit code, and that stderr holds these words.
    #[track_caller]
    pub fn expect(self, code: i32, words: &[&str]) -> Self {
        let (stdout, stderr) = (&self.stdout, &self.stderr);
        assert_eq!(self.code, Some(code), "{stdout}\n{stderr}");
        for word in words {
            assert!(stderr.contains(word), "`{word}` isn't in:\n{stderr}");
        }
        self
    }
}

/// The trials of a run with this status.
pub fn with_status(run: &Run, status: Status) -> Vec<&Trial> {
    run.trials
        .iter()
        .filter(|trial| trial.status == status)
        .collect()
}

/// Tries until there is something; a minute at most.
#[track_caller]
pub fn wait<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "no {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Starts `inorder` in a process group of its own, as a shell does.
pub fn start_with(place: &Place, arguments: &[&str]) -> Child {
    start_in_group(&mut place.inorder(arguments))
}

/// Starts a command in a process group of its own.
pub fn start_in_group(command: &mut Command) -> Child {
    command
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// Sends a signal to every process of a group.
pub fn signal(group: u32, name: &str) {
    let status = Command::new("kill")
        .args([&format!("-{name}"), "--", &format!("-{group}")])
        .status();
    assert!(status.expect("kill(1)").success());
}
