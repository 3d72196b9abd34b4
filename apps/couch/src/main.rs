//! The command `inorder-couch`.

mod commands;

use std::process::ExitCode;

/// Also that of SQLite and QuickJS. `_changes` takes half the CPU time with it (apps/couch/docs/performance.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match inorder_command::parse::<commands::Cli>().run() {
        Ok(code) => code,
        Err(error) if inorder_command::is_closed_pipe(error.as_ref()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("inorder-couch: {error:#}");
            let is_usage = error.downcast_ref::<commands::UsageError>().is_some();
            ExitCode::from(if is_usage { 2 } else { 1 })
        }
    }
}
