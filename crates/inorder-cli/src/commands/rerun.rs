//! `inorder rerun`: the experiments of a result file, once more.

use super::bench::{Timer, Where, command_line, leave_servers, start};
use crate::interrupt;
use anyhow::Result;
use inorder_bench::{plan::Plan, results::Store, run::Request};
use std::{path::PathBuf, process::ExitCode};

/// Runs the experiments of a result file again, with the same plan and seed, into a new result file.
/// Compare the two with `inorder compare`.
#[derive(clap::Args)]
#[command(after_help = "Example:
  inorder rerun inorder-results/RUN.db
  inorder compare inorder-results/RUN.db inorder-results/NEW.db")]
pub struct Arguments {
    /// A result file of `inorder bench`
    result: PathBuf,
    #[command(flatten)]
    place: Where,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    interrupt::watch(leave_servers)?;
    let run = Store::read(&arguments.result)?;
    let engines = arguments.place.engines()?;
    let request = Request::again(&run, command_line(), engines)?;
    start(
        request,
        Plan::of(&run),
        &arguments.place,
        Timer::start(None),
    )
}
