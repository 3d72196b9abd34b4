//! `inorder load`: rows from files into a table, in the order of its key.

mod arguments;
mod report;
mod tables;
mod watch;

use anyhow::{Context as _, Result};
use inorder_bench::Error as Wrong;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::terminal;
pub use arguments::Arguments;
pub(super) use arguments::bytes;
use inorder_load::{Job, Phase, Progress};

/// The exit code of an interrupted load: 128 and the number of SIGINT.
const STOPPED: u8 = 130;

/// The time that a load which reads rows takes to stop.
const STOPS_WITHIN: Duration = Duration::from_millis(500);

/// What is said if stdout fails.
const NOT_PRINTED: &str = "the load is done, but its summary cannot be printed";

/// The exit code of a load that left out bad rows.
const LEFT_OUT: u8 = 6;

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let jobs = Arc::new(arguments.jobs().map_err(Wrong::Usage)?);
    let stopped = Progress::default();
    let current = Arc::new(Mutex::new((stopped.clone(), 0)));
    let (running, all) = (Arc::clone(&current), Arc::downgrade(&jobs));
    ctrlc::set_handler(move || stop(&running, &all))?;
    let (mut summaries, mut code) = (Vec::new(), ExitCode::SUCCESS);
    let is_text = !arguments.is_json() && !arguments.is_quiet();
    for job in jobs.iter() {
        let progress = stopped.for_next();
        *locked(&current) = (progress.clone(), summaries.len());
        let watch = watch::Watch::start(&progress, arguments.is_quiet());
        let loaded = inorder_load::run(job, &progress);
        watch.finish();
        let summary = match loaded {
            Ok(summary) => summary,
            Err(inorder_load::Error::Stopped) => {
                eprintln!("inorder: {}", report::stopped(&jobs, summaries.len()));
                return Ok(ExitCode::from(STOPPED));
            }
            Err(error) => {
                if jobs.len() > 1 && is_text {
                    terminal::print(&report::incomplete(&jobs, summaries.len()))?;
                }
                return Err(error.into());
            }
        };
        if is_text {
            terminal::print(&report::text(&summary, &job.to)).context(NOT_PRINTED)?;
        }
        if !arguments.is_quiet() {
            eprint!("{}", report::decisions(&summary));
        }
        if summary.rows_refused > 0 {
            code = ExitCode::from(LEFT_OUT);
        }
        summaries.push(summary);
    }
    if arguments.is_json() {
        let json = match &summaries[..] {
            [summary] => serde_json::to_string_pretty(summary)?,
            summaries => serde_json::to_string_pretty(summaries)?,
        };
        terminal::print(&format!("{json}\n")).context(NOT_PRINTED)?;
    }
    Ok(code)
}

/// The job that runs, and how many are done.
type Running = (Progress, usize);

/// Stops a load. One that waits for its input, such as a pipe, has written nothing, and ends with the process. Jobs that are done
/// are not kept for this, because what was downloaded for them goes with them.
fn stop(running: &Mutex<Running>, jobs: &Weak<Vec<Job>>) {
    let (progress, loaded) = locked(running).clone();
    progress.stop();
    std::thread::sleep(STOPS_WITHIN);
    let rows = progress.rows_read();
    std::thread::sleep(STOPS_WITHIN);
    let is_waiting = progress.phase() == Phase::Read && progress.rows_read() == rows;
    if let Some(jobs) = jobs.upgrade().filter(|_| is_waiting) {
        eprintln!("inorder: {}", report::stopped(&jobs, loaded));
        for job in jobs.iter() {
            job.read_options.downloads.remove();
        }
        std::process::exit(STOPPED.into());
    }
}

fn locked(running: &Mutex<Running>) -> MutexGuard<'_, Running> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}
