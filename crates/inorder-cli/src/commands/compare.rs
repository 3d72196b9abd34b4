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
    /// term, md, html or json
    #[arg(long, short, default_value = "term")]
    format: String,
    /// Write the comparison to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// End with exit code 7 if B costs more than A by more than this share in any cell: bytes, sizes, times or rows per
    /// second beyond the noise, such as 5%; and if B lacks a cell of A, or nothing could be compared
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_above: Option<f64>,
}

/// The exit code of a comparison with a cost that rose by more than `--fail-above`, or with a cell that was not compared.
const WORSE: u8 = 7;

/// A share as `5%` or `5`.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>();
    match number {
        Ok(percent) if percent.is_finite() && percent >= 0.0 => Ok(percent / 100.0),
        _ => Err("write a percentage of 0 or more, such as 5%".to_owned()),
    }
}

/// The output formats of a comparison.
const FORMATS: &[Format] = &[Format::Term, Format::Md, Format::Html, Format::Json];

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let format = format(&arguments.format, FORMATS)?;
    let inputs = [arguments.a.as_path(), &arguments.b];
    terminal::refuse_input(arguments.output.as_deref(), &inputs)?;
    let (a, b) = (Store::read(&arguments.a)?, Store::read(&arguments.b)?);
    let comparison = compare::compare(&a, &b);
    let text = compare::render(&comparison, format, &terminal::options())?;
    match &arguments.output {
        Some(path) => terminal::write_file(path, &text)?,
        None => terminal::print(&text)?,
    }
    let Some(share) = arguments.fail_above else {
        return Ok(ExitCode::SUCCESS);
    };
    let worse = comparison.regressions(share);
    for (experiment, cell, compared) in &worse {
        eprintln!(
            "{experiment}: {cell}: {} is {:.2} times as high",
            compared.metric.title, compared.ratio.ratio
        );
    }
    let missing = comparison.missing();
    for cell in &missing {
        eprintln!(
            "{cell}: nothing is compared: B has no finished trial of it, or none of its metrics"
        );
    }
    if comparison.is_empty() {
        eprintln!("nothing is compared: no cell has finished trials in both");
    }
    let is_right = worse.is_empty() && missing.is_empty() && !comparison.is_empty();
    Ok(match is_right {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(WORSE),
    })
}
