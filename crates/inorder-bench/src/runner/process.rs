//! Trials in processes of their own: a clean heap, their own peak memory, a time limit.

use super::Executor;
use crate::{
    engines::Engines,
    error::Error,
    trial::{self, Event, Outcome, TrialSpec},
};
use serde::{Deserialize, Serialize};
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

/// How often a running trial is looked at for a stop or its time limit.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What a trial's process is told.
#[derive(Serialize, Deserialize)]
struct Order {
    spec: TrialSpec,
    urls: Vec<String>,
}

/// Starts a process for each trial.
pub struct Processes {
    /// The program, and the arguments that make it [`serve`] a trial.
    pub command: (PathBuf, Vec<String>),
    /// URLs of the servers that run already, with their passwords: told on stdin like the trial, for
    /// nobody else to see.
    pub urls: Vec<String>,
    /// Set when the run is to stop: the running trial is killed.
    pub stop: Arc<AtomicBool>,
}

impl Executor for Processes {
    fn run(
        &mut self,
        spec: &TrialSpec,
        seconds_max: u64,
        on_rows: &mut dyn FnMut(u64),
    ) -> Result<Outcome, String> {
        let mut child = Command::new(&self.command.0)
            .args(&self.command.1)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("starting {}: {error}", self.command.0.display()))?;
        let order = Order {
            spec: spec.clone(),
            urls: self.urls.clone(),
        };
        let ended = follow(&mut child, &order, seconds_max, &self.stop, on_rows);
        // Whatever happened, nothing of the trial goes on.
        let _ = child.kill();
        let status = child.wait();
        ended.unwrap_or_else(|| {
            let mut talk = String::new();
            if let Some(stderr) = child.stderr.take() {
                let _ = stderr.take(64 << 10).read_to_string(&mut talk);
            }
            let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
            Err(format!(
                "the trial's process ended with {status}: {}",
                talk.trim()
            ))
        })
    }
}

/// Tells the child its trial and hears it out. `None` when it ended without a word.
fn follow(
    child: &mut Child,
    order: &Order,
    seconds_max: u64,
    stop: &AtomicBool,
    on_rows: &mut dyn FnMut(u64),
) -> Option<Result<Outcome, String>> {
    let mut told = serde_json::to_string(order).ok()?;
    told.push('\n');
    // Kept open until the trial ended: its end tells the child that nobody listens any more.
    let mut stdin = child.stdin.take()?;
    stdin.write_all(told.as_bytes()).ok()?;
    let stdout = BufReader::new(child.stdout.take()?);
    let (sender, events) = mpsc::channel();
    thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            if sender.send(serde_json::from_str::<Event>(&line)).is_err() {
                return;
            }
        }
    });
    let deadline = Instant::now() + Duration::from_secs(seconds_max);
    loop {
        match events.recv_timeout(LOOK_EVERY) {
            Ok(Ok(Event::Rows(rows))) => on_rows(rows),
            Ok(Ok(Event::Done(outcome))) => return Some(Ok(*outcome)),
            Ok(Ok(Event::Failed(reason))) => return Some(Err(reason)),
            Ok(Err(error)) => return Some(Err(format!("the trial spoke nonsense: {error}"))),
            Err(mpsc::RecvTimeoutError::Disconnected) => return None,
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        if stop.load(Ordering::Relaxed) {
            return Some(Err("stopped".to_owned()));
        }
        if Instant::now() > deadline {
            return Some(Err(format!(
                "not done after {seconds_max} s: raise trial_seconds_max in the experiment"
            )));
        }
    }
}

/// The other side: reads a trial from stdin, runs it, and says on stdout how it went. Ends the
/// process when the one that asked is gone.
///
/// # Errors
/// When stdin holds no trial or stdout is closed; a trial that fails is said on stdout.
pub fn serve() -> Result<(), Error> {
    let closed = |error: std::io::Error| Error::Trial(format!("talking to the run: {error}"));
    let mut line = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(closed)?;
    let order: Order = serde_json::from_str(&line)
        .map_err(|error| Error::Usage(format!("stdin doesn't hold a trial: {error}")))?;
    thread::spawn(|| {
        let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
        std::process::exit(1);
    });
    let mut on_rows = |rows| _ = say(&Event::Rows(rows));
    let ended = Engines::at(&order.urls)
        .and_then(|engines| trial::run(&order.spec, &engines, &mut on_rows));
    let event = match ended {
        Ok(outcome) => Event::Done(Box::new(outcome)),
        Err(error) => Event::Failed(error.to_string()),
    };
    say(&event).map_err(closed)
}

fn say(event: &Event) -> std::io::Result<()> {
    let mut line = serde_json::to_string(event)?;
    line.push('\n');
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(line.as_bytes())?;
    stdout.flush()
}
