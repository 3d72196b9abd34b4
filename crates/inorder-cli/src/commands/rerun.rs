//! `inorder rerun`: the experiments of a result file, once more.

use super::bench::{Where, start};
use anyhow::Result;
use inorder_bench::{results::Store, run::Request};
use std::{path::PathBuf, process::ExitCode};

/// Runs the experiments of a result file again, with the same plan and seed, into a new result file.
/// Compare the two with `inorder compare`.
#[derive(clap::Args)]
pub struct Arguments {
    /// A result file of `inorder bench`
    result: PathBuf,
    #[command(flatten)]
    place: Where,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let run = Store::read(&arguments.result)?;
    let request = Request::again(&run, std::env::args().skip(1).collect())?;
    let plan = request.plan()?;
    start(request, plan, &arguments.place)
}
