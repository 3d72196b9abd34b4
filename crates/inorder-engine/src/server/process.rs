//! A running server: starts it in a home, monitors it, and stops it by its process id.

use super::{Home, environment};
use crate::{Error, processes::process_tree};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    fs,
    io::Write as _,
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

/// Maximum time until the server answers.
const START_MAX: Duration = Duration::from_secs(60);
/// Maximum time to end before the server is killed.
const STOP_MAX: Duration = Duration::from_secs(10);
/// Interval between checks.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Number of log lines in an error.
const LOG_LINES: usize = 12;

/// Shell script of the watchdog. It reads until the pipe reports that the server was stopped, or closes because its
/// owner has ended. It then stops the server, if the process still has the path of that server in its command line, and
/// removes the run folder.
const WATCHDOG: &str = r#"
trap '' HUP INT
read -r word
[ "$word" = stopped ] && exit
signal=$1 server=$2 path=$3 folder=$4
is_server() {
  if [ -d /proc/self ]; then tr '\0' ' ' 2>/dev/null <"/proc/$server/cmdline"
  else ps -o args= -p "$server"; fi | grep -qF -- "$path"
}
# A server that is held back (SIGSTOP) can't end, nor can what it started.
go_on() {
  for stat in /proc/[0-9]*/stat; do
    read -r pid name state parent rest 2>/dev/null <"$stat"
    [ "$parent" = "$server" ] && kill -s CONT "$pid"
  done
  kill -s CONT "$server"
}
if is_server; then
  kill -s "$signal" "$server"
  go_on
  tries=0
  while is_server && [ "$tries" -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
  is_server && kill -s KILL "$server"
fi
rm -rf -- "$folder"
"#;

/// Signal that ends a server. Its data are discarded, so it need not write them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// `SIGQUIT`: ends at once and frees system resources.
    Quit,
    /// `SIGKILL`.
    Kill,
}

/// A running server.
pub struct Server {
    engine: &'static str,
    server: Mutex<Child>,
    _watchdog: Watchdog,
    stop: Stop,
    /// The folders of the server.
    pub home: Home,
}

impl Server {
    /// Starts `command` as the home's user with its output in the log. The command line must contain the home's run
    /// folder.
    pub fn start(
        engine: &'static str,
        mut command: Command,
        home: Home,
        stop: Stop,
    ) -> Result<Self, Error> {
        let log = fs::File::create(home.log()).map_err(|source| Error::Io {
            path: home.log(),
            source,
        })?;
        as_user(&mut command, &home);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            // Ctrl-C on a terminal is meant for the process that started the server.
            .process_group(0);
        let (server, watchdog) = watched(&mut command, stop, &home.run, &home)?;
        Ok(Server {
            engine,
            server: Mutex::new(server),
            _watchdog: watchdog,
            stop,
            home,
        })
    }

    /// Repeats `connect` until it succeeds.
    ///
    /// # Errors
    /// If the server ends or exceeds the maximum time; the message contains the end of its log.
    pub fn wait_for<T>(&self, mut connect: impl FnMut() -> Result<T, String>) -> Result<T, Error> {
        let began = Instant::now();
        loop {
            let why = match connect() {
                Ok(connection) => return Ok(connection),
                Err(why) => why,
            };
            let ended = self.child().try_wait().ok().flatten();
            let why = match ended {
                Some(status) => format!("it ended with {status}"),
                None if began.elapsed() > START_MAX => why,
                None => {
                    thread::sleep(LOOK_EVERY);
                    continue;
                }
            };
            return Err(Error::Database {
                doing: format!("starting {}", self.engine),
                message: format!("{why}; the end of its log:\n{}", self.log_end()),
            });
        }
    }

    /// Returns the current server process and its descendants.
    pub fn processes(&self) -> Vec<u32> {
        process_tree(self.child().id())
    }

    fn child(&self) -> std::sync::MutexGuard<'_, Child> {
        self.server
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn log_end(&self) -> String {
        let log = fs::read(self.home.log()).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
    }
}

impl Stop {
    fn name(self) -> &'static str {
        match self {
            Stop::Quit => "QUIT",
            Stop::Kill => "KILL",
        }
    }

    fn signal(self) -> Signal {
        match self {
            Stop::Quit => Signal::QUIT,
            Stop::Kill => Signal::KILL,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let signal = self.stop.signal();
        let mut server = self.child();
        let is_running = |server: &mut Child| matches!(server.try_wait(), Ok(None));
        // The process id can't be reused before `wait`.
        if is_running(&mut server)
            && let Some(pid) = Pid::from_raw(server.id().cast_signed())
        {
            let _ = kill_process(pid, signal);
        }
        let began = Instant::now();
        while is_running(&mut server) && began.elapsed() < STOP_MAX {
            thread::sleep(LOOK_EVERY);
        }
        let _ = server.kill();
        let _ = server.wait();
    }
}

/// A process that stops a server and removes its run folder when this process ends. Dropping it after the end of the
/// server ends it.
struct Watchdog(Child);

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.0.stdin.take() {
            let _ = pipe.write_all(b"stopped\n");
        }
        let _ = self.0.wait();
    }
}

/// Starts a command whose command line contains `path`, and its watchdog.
fn watched(
    command: &mut Command,
    stop: Stop,
    path: &Path,
    home: &Home,
) -> Result<(Child, Watchdog), Error> {
    let mut child = spawn(command)?;
    let mut watchdog = Command::new("/bin/sh");
    watchdog
        .args(["-c", WATCHDOG, "inorder-watchdog", stop.name()])
        .arg(child.id().to_string())
        .args([path, &home.run])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    let watchdog = spawn(&mut watchdog).inspect_err(|_| {
        let _ = child.kill();
        let _ = child.wait();
    })?;
    Ok((child, Watchdog(watchdog)))
}

/// Runs a program to its end as the home's user, such as the one that creates the data folder. Its command line must
/// contain the path of the data folder. The program ends with this process.
///
/// # Errors
/// If the program fails; the message contains its stderr.
pub fn run_once(doing: &str, mut command: Command, home: &Home) -> Result<(), Error> {
    as_user(&mut command, home);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let (child, _watchdog) = watched(&mut command, Stop::Kill, &home.data, home)?;
    let ended = child.wait_with_output().map_err(|source| Error::Io {
        path: command.get_program().into(),
        source,
    })?;
    if ended.status.success() {
        return Ok(());
    }
    Err(Error::Database {
        doing: doing.to_owned(),
        message: format!(
            "{}: {}",
            ended.status,
            String::from_utf8_lossy(&ended.stderr).trim()
        ),
    })
}

/// Makes a command run as the home's user, in a folder that this user can access, and in a clean environment.
fn as_user(command: &mut Command, home: &Home) {
    environment::clean(command);
    command.current_dir(&home.run);
    if let Some(user) = home.user {
        user.run(command);
    }
}

fn spawn(command: &mut Command) -> Result<Child, Error> {
    command.spawn().map_err(|source| Error::Io {
        path: command.get_program().into(),
        source,
    })
}
