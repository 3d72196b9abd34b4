//! The list of subcommands.

mod bench;
mod compare;
mod completions;
mod engines;
mod explain;
mod id;
mod load;
mod report;
mod rerun;
mod trial;
mod verdicts;

use anyhow::Result;
use std::process::ExitCode;

/// Every subcommand. Adding one is a file and a line in each place here.
#[derive(clap::Subcommand)]
pub enum Commands {
    /// Runs experiments and reports what each key kind and table layout costs
    Bench(bench::Arguments),
    /// Loads rows from files into a table, in the order of its key
    Load(Box<load::Arguments>),
    /// Makes a report of a result file
    Report(report::Arguments),
    /// Compares two result files, cell by cell
    Compare(compare::Arguments),
    /// Lists the verdicts of several runs side by side
    Verdicts(verdicts::Arguments),
    /// Runs the experiments of a result file again: same plan, same seed
    Rerun(rerun::Arguments),
    /// Lists the databases that can be measured here, and how to install the others
    Engines(engines::Arguments),
    /// Explains the words of experiments and reports: factors, probes, metrics, claims
    Explain(explain::Arguments),
    /// Makes ids, tells what they are and converts them
    Id(id::Arguments),
    /// Prints the completions of this command for a shell
    Completions(completions::Arguments),
    /// Runs one trial that is told on stdin (what `bench` starts a process for)
    #[command(hide = true)]
    Trial,
}

impl Commands {
    /// Runs the subcommand.
    pub fn run(self) -> Result<ExitCode> {
        match self {
            Commands::Bench(arguments) => bench::run(arguments),
            Commands::Load(arguments) => load::run(*arguments),
            Commands::Report(arguments) => report::run(arguments),
            Commands::Compare(arguments) => compare::run(arguments),
            Commands::Verdicts(arguments) => verdicts::run(arguments),
            Commands::Rerun(arguments) => rerun::run(arguments),
            Commands::Engines(arguments) => engines::run(&arguments),
            Commands::Explain(arguments) => explain::run(arguments),
            Commands::Id(arguments) => id::run(arguments),
            Commands::Completions(arguments) => completions::run(&arguments),
            Commands::Trial => trial::run(),
        }
    }
}
