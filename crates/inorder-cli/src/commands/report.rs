//! `inorder report`: a report of a result file.

use crate::terminal;
use anyhow::Result;
use inorder_bench::{
    Error, nearest,
    report::{self, Format},
    results::Store,
};
use std::{path::PathBuf, process::ExitCode};

/// Reports a result file as text, HTML, Markdown, JSON or CSV.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  inorder report inorder-results/RUN.db
  inorder report inorder-results/RUN.db --format html --output run.html
  inorder report inorder-results/RUN.db --format csv | head")]
pub struct Arguments {
    /// A result file of `inorder bench`
    result: PathBuf,
    /// term, html, md, json or csv
    #[arg(long, short, default_value = "term")]
    format: String,
    /// Write to this file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let format = format(&arguments.format, Format::ALL)?;
    terminal::refuse_input(arguments.output.as_deref(), &[&arguments.result])?;
    let run = Store::read(&arguments.result)?;
    let text = report::render(&run, format, &terminal::options())?;
    match &arguments.output {
        Some(path) => terminal::write_file(path, &text)?,
        None => terminal::print(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The one of these formats that has this name.
pub fn format(name: &str, among: &[Format]) -> Result<Format, Error> {
    let named = among.iter().find(|format| format.name() == name);
    named.copied().ok_or_else(|| {
        let known = among.iter().map(|format| format.name());
        Error::Usage(format!("unknown format `{name}`: {}", nearest(name, known)))
    })
}
