//! The command `inorder-couch`.

mod commands;

use clap::Parser;
use std::process::ExitCode;

/// The allocator of a static program, in the place of the one of its C library. `_changes` takes half the CPU time with it
/// (apps/couch/docs/performance.md).
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = commands::Cli::parse();
    match cli.run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("inorder-couch: {error:#}");
            let is_usage = error.downcast_ref::<commands::UsageError>().is_some();
            ExitCode::from(if is_usage { 2 } else { 1 })
        }
    }
}
