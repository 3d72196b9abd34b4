//! `inorder load`: rows from files into a table, in the order of its key.

mod arguments;
mod report;
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
    let job = arguments.job().map_err(Wrong::Usage)?;
    let progress = Progress::default();
    let stop = progress.clone();
    ctrlc::set_handler(move || stop.stop())?;
    let watch = watch::Watch::start(&progress, arguments.is_quiet());
    let loaded = inorder_load::run(&job, &progress);
    watch.finish();
    match loaded {
        Ok(summary) => {
            let text = match arguments.is_json() {
                true => format!("{}\n", serde_json::to_string_pretty(&summary)?),
                false if arguments.is_quiet() => String::new(),
                false => report::text(&summary, &job.to),
            };
            terminal::print(&text)?;
            Ok(match summary.rows_refused {
                0 => ExitCode::SUCCESS,
                _ => ExitCode::from(LEFT_OUT),
            })
        }
        Err(inorder_load::Error::Stopped) => {
            eprintln!("inorder: {}", inorder_load::Error::Stopped);
            Ok(ExitCode::from(STOPPED))
        }
        Err(error) => Err(error.into()),
    }
}
