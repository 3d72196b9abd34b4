//! `inorder verdicts`: the verdicts of several runs side by side.

use super::report::format;
use crate::terminal;
use anyhow::Result;
use inorder_bench::{
    report::{Format, verdicts},
    results::{Run, Store},
};
use std::{path::PathBuf, process::ExitCode};

/// Lists the verdicts of several runs side by side, such as of one experiment with several seeds. Exit code 1 if
/// a claim holds in one run and does not hold in another.
#[derive(clap::Args)]
pub struct Arguments {
    /// The result files
    #[arg(required = true, value_name = "RESULT")]
    results: Vec<PathBuf>,
    /// md or json
    #[arg(long, short, default_value = "md")]
    format: String,
}

/// The output formats of the table.
const FORMATS: &[Format] = &[Format::Md, Format::Json];

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let format = format(&arguments.format, FORMATS)?;
    let results = arguments.results.iter();
    let runs: Vec<Run> = results
        .map(|path| Store::read(path))
        .collect::<Result<_, _>>()?;
    let rows = verdicts::rows(&runs);
    terminal::print(&verdicts::render(&runs, &rows, format)?)?;
    let is_turned = rows.iter().any(|row| !row.turned().is_empty());
    Ok(if is_turned {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
