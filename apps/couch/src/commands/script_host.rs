//! `script-host`: the server starts it to run functions of design documents.

use clap::Args;
use inorder_couch::script::host;
use std::process::ExitCode;

/// Runs functions of design documents for the server whose pipes stdin and stdout are.
#[derive(Debug, Args)]
pub struct ScriptHost {
    /// Bytes of memory of the process.
    memory_bytes_max: usize,
}

impl ScriptHost {
    pub fn run(self) -> ExitCode {
        host::run(self.memory_bytes_max)
    }
}
