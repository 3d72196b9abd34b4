//! The command `inorder`: one file a subcommand, in `commands/`.

mod commands;
mod interrupt;
mod progress;
mod terminal;

use clap::CommandFactory as _;
use commands::Commands;
use std::process::ExitCode;

/// Measures what a primary key costs on this machine, and how to get one that costs less.
#[derive(clap::Parser)]
#[command(
    name = "inorder",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    after_help = "Start with: inorder bench\nExit codes: 0 done, 1 a trial or file failed, 2 the command or an experiment is wrong, 3 ids were lost, 4 a damaged file and 5 a query breaks (advise), 6 bad rows were left out (load), 7 a cost rose above the bound (compare), 130 stopped."
)]
struct Arguments {
    #[command(subcommand)]
    command: Commands,
}

/// The command line's own description: every subcommand and every flag.
pub fn command() -> clap::Command {
    Arguments::command()
}

/// Runs the command that this process was started with.
pub fn run() -> ExitCode {
    let ran = inorder_command::parse::<Arguments>().command.run(command);
    interrupt::settle();
    match ran {
        Ok(code) => code,
        Err(error) => {
            if inorder_command::is_closed_pipe(error.as_ref()) {
                return ExitCode::SUCCESS;
            }
            eprintln!("inorder: {}", terminal::in_words(&error));
            let is_usage = error
                .downcast_ref::<inorder_bench::Error>()
                .is_some_and(inorder_bench::Error::is_usage);
            ExitCode::from(if is_usage { 2 } else { 1 })
        }
    }
}
