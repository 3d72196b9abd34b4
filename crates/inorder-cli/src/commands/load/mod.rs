//! `inorder load`: rows from files into a table, in the order of its key.

mod arguments;
mod report;
mod tables;
mod watch;

use anyhow::Result;
use inorder_bench::Error as Wrong;
use std::process::ExitCode;

use crate::terminal;
pub use arguments::Arguments;
use inorder_load::Progress;

/// The exit code of an interrupted load: 128 and the number of SIGINT.
const STOPPED: u8 = 130;

/// The exit code of a load that left out bad rows.
const LEFT_OUT: u8 = 6;

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let jobs = arguments.jobs().map_err(Wrong::Usage)?;
    let stopped = Progress::default();
    let stop = stopped.clone();
    ctrlc::set_handler(move || stop.stop())?;
    let (mut summaries, mut code) = (Vec::new(), ExitCode::SUCCESS);
    let is_text = !arguments.is_json() && !arguments.is_quiet();
    for job in &jobs {
        let progress = stopped.for_next();
        let watch = watch::Watch::start(&progress, arguments.is_quiet());
        let loaded = inorder_load::run(job, &progress);
        watch.finish();
        let summary = match loaded {
            Ok(summary) => summary,
            Err(inorder_load::Error::Stopped) => {
                eprintln!("inorder: {}", inorder_load::Error::Stopped);
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
            terminal::print(&report::text(&summary, &job.to))?;
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
        terminal::print(&format!("{json}\n"))?;
    }
    Ok(code)
}
