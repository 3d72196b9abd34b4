//! `inorder compare`: two result files, cell by cell.

use super::report::format;
use crate::terminal;
use anyhow::Result;
use inorder_bench::{
    report::{Format, compare},
    results::Store,
};
use std::{path::PathBuf, process::ExitCode};

/// Compares two result files: the ratio B/A for every cell that both have, with its interval, and which
/// ratios exceed the noise floor.
#[derive(clap::Args)]
pub struct Arguments {
    /// The result file A, the denominator of the ratios
    a: PathBuf,
    /// The result file B
    b: PathBuf,
    /// term, md or json
    #[arg(long, short, default_value = "term")]
    format: String,
}

/// The output formats of a comparison.
const FORMATS: &[Format] = &[Format::Term, Format::Md, Format::Json];

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let format = format(&arguments.format, FORMATS)?;
    let (a, b) = (Store::read(&arguments.a)?, Store::read(&arguments.b)?);
    let comparison = compare::compare(&a, &b);
    terminal::print(&compare::render(&comparison, format, &terminal::options())?)?;
    Ok(ExitCode::SUCCESS)
}
