//! `inorder trial`: runs one trial, specified on stdin. An internal command.

use anyhow::Result;
use std::{process::ExitCode, thread, time::Duration};

pub fn run() -> Result<ExitCode> {
    // Ctrl-C reaches every process of the terminal. The run decides what it means: a trial that died
    // of it by itself would look like one that failed.
    ctrlc::set_handler(|| {
        thread::sleep(Duration::from_secs(1));
        std::process::exit(130);
    })?;
    inorder_bench::runner::serve()?;
    Ok(ExitCode::SUCCESS)
}
