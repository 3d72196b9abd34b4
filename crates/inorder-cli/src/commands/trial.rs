//! `inorder trial`: one trial, told on stdin. Not for people.

use anyhow::Result;
use std::process::ExitCode;

pub fn run() -> Result<ExitCode> {
    inorder_bench::runner::serve()?;
    Ok(ExitCode::SUCCESS)
}
