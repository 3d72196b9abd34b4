//! The program itself, serving a file of its own.

#![allow(dead_code)] // the browser tests use a part

use std::{
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_inorder-watch");

/// A running server. It ends with this.
pub struct Server {
    child: Child,
    /// `http://127.0.0.1:PORT`
    pub address: String,
    /// The code to set it up, while it has no owner.
    pub setup_code: Option<String>,
}

impl Server {
    /// Starts the program on a file, on a free port.
    pub fn start(db: &Path) -> Self {
        Server::start_at(db, "127.0.0.1:0")
    }

    /// Starts the program on a file, where it was before.
    pub fn start_at(db: &Path, address: &str) -> Self {
        let mut command = Command::new(PROGRAM);
        command.args(["serve", "--listen", address, "--db"]).arg(db);
        Server::run(command, db).expect("it says where it listens")
    }

    /// Starts the program by a command that serves this file. Returns nothing if it ends before it listens.
    pub fn run(mut command: Command, db: &Path) -> Option<Self> {
        let mut child = command
            .env_remove("INORDER_WATCH_LOG")
            .env("NO_COLOR", "1")
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let Some(address) = line_with(&mut lines, "listening on ") else {
            child.wait().expect("it ends");
            return None;
        };
        let is_new = query(db, "SELECT count(*) FROM user") == "0";
        let setup_code =
            is_new.then(|| line_with(&mut lines, "/setup?code=").expect("it prints a code"));
        // Nobody reads the rest: a full pipe would stop it.
        thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Some(Server {
            child,
            address,
            setup_code,
        })
    }

    /// Bytes of memory that it has.
    pub fn resident_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let kilobytes = line.unwrap().split_whitespace().nth(1).unwrap();
        kilobytes.parse::<u64>().unwrap() * 1024
    }

    /// Kills it, as a power cut would.
    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    /// Whether it ends by itself within a minute.
    pub fn ends(mut self) -> bool {
        let deadline = Instant::now() + Duration::from_secs(60);
        while Instant::now() < deadline {
            if self.child.try_wait().expect("it is our child").is_some() {
                return true;
            }
            thread::sleep(Duration::from_millis(10));
        }
        false
    }

    /// Asks it to stop, and gives whether it ended well.
    pub fn stop(self) -> bool {
        let id = self.child.id().to_string();
        self.stop_by(&id)
    }

    /// Like [`Server::stop`], for a command in a process group of its own that runs the program.
    pub fn stop_group(self) -> bool {
        let group = format!("-{}", self.child.id());
        self.stop_by(&group)
    }

    fn stop_by(mut self, id: &str) -> bool {
        let told = Command::new("kill").args(["-TERM", "--", id]).status();
        assert!(told.expect("kill is there").success());
        self.child.wait().expect("it ends").success()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the text after these words on the first line that has them.
fn line_with(lines: &mut impl BufRead, words: &str) -> Option<String> {
    let mut line = String::new();
    while lines.read_line(&mut line).ok()? > 0 {
        if let Some((_, rest)) = line.split_once(words) {
            return Some(rest.trim().to_owned());
        }
        line.clear();
    }
    None
}

/// The first column of the first row, as text.
pub fn query(db: &Path, sql: &str) -> String {
    let db = rusqlite::Connection::open(db).unwrap();
    inorder_sqlite::register(&db).unwrap();
    db.query_row(sql, [], |row| row.get::<_, rusqlite::types::Value>(0))
        .map(|value| match value {
            rusqlite::types::Value::Integer(number) => number.to_string(),
            rusqlite::types::Value::Text(text) => text,
            other => format!("{other:?}"),
        })
        .unwrap()
}

/// Runs the program, and gives whether it worked, what it said on stdout and on stderr.
pub fn run(db: &Path, arguments: &[&str], input: &str) -> (bool, String, String) {
    let mut child = Command::new(PROGRAM)
        .args(arguments)
        .arg("--db")
        .arg(db)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
    let (mut out, mut err) = (String::new(), String::new());
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut err)
        .unwrap();
    (child.wait().unwrap().success(), out, err)
}

/// A file in a new folder, which is removed with the first part.
pub fn new_file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("watch.db");
    (folder, path)
}
