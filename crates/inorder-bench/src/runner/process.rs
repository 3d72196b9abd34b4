//! Runs each trial in a separate process, with a clean heap, its own peak memory and a time limit.

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

/// The interval at which a running trial is checked for a stop or its time limit.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The input of a trial's process on stdin.
#[derive(Serialize, Deserialize)]
struct Assignment {
    spec: TrialSpec,
    urls: Vec<String>,
}

/// Starts a process for each trial.
pub struct Processes {
    /// The program, and the arguments that make it [`serve`] a trial.
    pub command: (PathBuf, Vec<String>),
    /// URLs of running servers with their passwords. The trial receives them on stdin, which no other process can read.
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
        let assignment = Assignment {
            spec: spec.clone(),
            urls: self.urls.clone(),
        };
        let ended = follow(&mut child, &assignment, seconds_max, &self.stop, on_rows);
        // Kills all processes of the trial, whatever happened.
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

/// Sends the trial to the child and waits for its end. `None` when the child ended without a result.
fn follow(
    child: &mut Child,
    assignment: &Assignment,
    seconds_max: u64,
    stop: &AtomicBool,
    on_rows: &mut dyn FnMut(u64),
) -> Option<Result<Outcome, String>> {
    let mut told = serde_json::to_string(assignment).ok()?;
    told.push('\n');
    // Stays open until the trial ends: the child exits when it closes.
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
    let began = Instant::now();
    let mut child = Heard { events, began };
    hear_out(&mut child, seconds_max, stop, on_rows)
}

/// The output of a trial's process, one message per line.
type Said = Result<Event, serde_json::Error>;

/// Receives the messages of a trial's process with timeouts. Tests use one without real time.
trait Hear {
    /// The next thing said, or why there is none within `wait`.
    fn next(&mut self, wait: Duration) -> Result<Said, mpsc::RecvTimeoutError>;

    /// Time since the trial began.
    fn elapsed(&self) -> Duration;
}

/// A process that runs.
struct Heard {
    events: mpsc::Receiver<Said>,
    began: Instant,
}

impl Hear for Heard {
    fn next(&mut self, wait: Duration) -> Result<Said, mpsc::RecvTimeoutError> {
        self.events.recv_timeout(wait)
    }

    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}

/// Listens until the trial ends, is stopped or exceeds its time limit. `None` when it ended without a word.
fn hear_out(
    child: &mut dyn Hear,
    seconds_max: u64,
    stop: &AtomicBool,
    on_rows: &mut dyn FnMut(u64),
) -> Option<Result<Outcome, String>> {
    loop {
        match child.next(LOOK_EVERY) {
            Ok(Ok(Event::Rows(rows))) => on_rows(rows),
            Ok(Ok(Event::Done(outcome))) => return Some(Ok(*outcome)),
            Ok(Ok(Event::Failed(reason))) => return Some(Err(reason)),
            Ok(Err(error)) => {
                return Some(Err(format!(
                    "the trial's process wrote a line that isn't an event: {error}"
                )));
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => return None,
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        if stop.load(Ordering::Relaxed) {
            return Some(Err("stopped".to_owned()));
        }
        if child.elapsed() > Duration::from_secs(seconds_max) {
            return Some(Err(format!(
                "not done after {seconds_max} s: raise trial_seconds_max in the experiment"
            )));
        }
    }
}

/// Runs a trial in this process: reads its specification from stdin and writes events to stdout. Ends the process when
/// stdin closes.
///
/// # Errors
/// If stdin has no trial or stdout is closed. The error of a failed trial goes to stdout.
pub fn serve() -> Result<(), Error> {
    let closed = |error: std::io::Error| Error::Trial(format!("talking to the run: {error}"));
    let mut line = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(closed)?;
    let assignment: Assignment = serde_json::from_str(&line)
        .map_err(|error| Error::Usage(format!("stdin doesn't hold a trial: {error}")))?;
    thread::spawn(|| {
        let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
        std::process::exit(1);
    });
    let mut on_rows = |rows| _ = say(&Event::Rows(rows));
    let ended = Engines::at(&assignment.urls)
        .map_err(|error| error.to_string())
        .and_then(|engines| {
            let ended = trial::run(&assignment.spec, &engines, &mut on_rows);
            ended.map_err(|error| said_of(&error, &assignment.spec, &engines))
        });
    let event = match ended {
        Ok(outcome) => Event::Done(Box::new(outcome)),
        Err(reason) => Event::Failed(reason),
    };
    say(&event).map_err(closed)
}

/// Formats an error, with the server if that is addressed by URL.
fn said_of(error: &Error, spec: &TrialSpec, engines: &Engines) -> String {
    let said = error.to_string();
    let engine = spec.levels.get("engine");
    let at = engines
        .shown()
        .into_iter()
        .find(|(name, _)| Some(name) == engine);
    match at {
        Some((_, url)) if !said.contains(&url) => format!("{url}: {said}"),
        _ => said,
    }
}

fn say(event: &Event) -> std::io::Result<()> {
    let mut line = serde_json::to_string(event)?;
    line.push('\n');
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(line.as_bytes())?;
    stdout.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that says these things at these seconds of a clock that jumps ahead.
    struct Script {
        says: Vec<(f64, &'static str)>,
        now: Duration,
        ends: bool,
    }

    impl Hear for Script {
        fn next(&mut self, wait: Duration) -> Result<Said, mpsc::RecvTimeoutError> {
            let Some((second, line)) = self.says.first().copied() else {
                self.now += wait;
                return Err(match self.ends {
                    true => mpsc::RecvTimeoutError::Disconnected,
                    false => mpsc::RecvTimeoutError::Timeout,
                });
            };
            let at = Duration::from_secs_f64(second);
            if at > self.now + wait {
                self.now += wait;
                return Err(mpsc::RecvTimeoutError::Timeout);
            }
            self.now = self.now.max(at);
            self.says.remove(0);
            Ok(serde_json::from_str(line))
        }

        fn elapsed(&self) -> Duration {
            self.now
        }
    }

    /// Returns the end of a trial with a limit of 900 s for these messages, their times, and the number of committed
    /// rows.
    fn ended(
        says: &[(f64, &'static str)],
        ends: bool,
        stop: bool,
    ) -> (Option<Result<(), String>>, f64, u64) {
        let mut script = Script {
            says: says.to_vec(),
            now: Duration::ZERO,
            ends,
        };
        let mut rows = 0;
        let ended = hear_out(&mut script, 900, &AtomicBool::new(stop), &mut |n| rows = n);
        let ended = ended.map(|ended| ended.map(drop));
        (ended, script.now.as_secs_f64(), rows)
    }

    fn done() -> &'static str {
        let event = Event::Done(Box::default());
        serde_json::to_string(&event).unwrap().leak()
    }

    #[test]
    fn a_trial_may_take_its_limit_and_no_longer() {
        let late = ended(&[(1.0, r#"{"rows":7}"#), (900.0, done())], true, false);
        assert_eq!(late, (Some(Ok(())), 900.0, 7));
        let too_late = ended(&[(1.0, r#"{"rows":7}"#), (900.3, done())], true, false);
        let reason = "not done after 900 s: raise trial_seconds_max in the experiment";
        assert_eq!(too_late.0, Some(Err(reason.to_owned())));
        assert!(too_late.1 > 900.0 && too_late.1 < 900.2, "{}", too_late.1);
        // Progress doesn't move the limit.
        let busy: Vec<_> = (0..2000).map(|n| (f64::from(n), r#"{"rows":1}"#)).collect();
        assert!(ended(&busy, false, false).0.unwrap().is_err());
    }

    #[test]
    fn a_stop_a_failure_and_silence_end_a_trial() {
        let stopped = ended(&[(5.0, done())], true, true);
        assert_eq!(stopped.0, Some(Err("stopped".to_owned())));
        assert!(stopped.1 <= 0.2, "a stop is seen within a look");
        let failed = ended(&[(1.0, r#"{"failed":"no room"}"#)], true, false);
        assert_eq!(failed.0, Some(Err("no room".to_owned())));
        let wrong = ended(&[(1.0, "hello")], true, false)
            .0
            .unwrap()
            .unwrap_err();
        assert!(wrong.contains("isn't an event"), "{wrong}");
        assert_eq!(ended(&[], true, false).0, None);
    }
}
