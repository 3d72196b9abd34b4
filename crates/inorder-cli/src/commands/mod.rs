//! The list of subcommands.

mod advise;
mod bench;
mod compare;
mod completions;
mod copy;
mod engines;
mod explain;
mod id;
mod load;
mod predict;
mod rekey;
mod report;
mod rerun;
mod trial;
mod verdicts;

use anyhow::Result;
use std::process::ExitCode;

/// Every subcommand. Adding one is a file and a line in each place here.
#[derive(clap::Subcommand)]
pub enum Commands {
    /// Reports what the keys, layouts and indexes of a database cost, from trials on a copy
    Advise(advise::Arguments),
    /// Runs experiments and reports what each key kind and table layout costs
    Bench(Box<bench::Arguments>),
    /// Loads rows from files into a table, in key order
    Load(Box<load::Arguments>),
    /// Copies a whole database to PostgreSQL or SQLite, and proves the copy
    Copy(copy::Arguments),
    /// Makes the changes of a plan in the database itself: all or none
    Rekey(rekey::Arguments),
    /// Predicts what inserts into a table cost at any number of rows, from a simulation
    Predict(Box<predict::Arguments>),
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
    /// Makes, inspects and converts ids
    Id(id::Arguments),
    /// Prints shell completions
    Completions(completions::Arguments),
    #[command(hide = true)]
    Manual(inorder_command::Manual),
    /// Runs one trial, specified on stdin; `bench` starts a process for each
    #[command(hide = true)]
    Trial,
}

impl Commands {
    /// Runs the subcommand. `command` describes the command line.
    pub fn run(self, command: fn() -> clap::Command) -> Result<ExitCode> {
        match self {
            Commands::Advise(arguments) => advise::run(arguments),
            Commands::Bench(arguments) => bench::run(*arguments),
            Commands::Load(arguments) => load::run(*arguments),
            Commands::Copy(arguments) => copy::run(arguments),
            Commands::Rekey(arguments) => rekey::run(arguments),
            Commands::Predict(arguments) => predict::run(&arguments),
            Commands::Report(arguments) => report::run(arguments),
            Commands::Compare(arguments) => compare::run(arguments),
            Commands::Verdicts(arguments) => verdicts::run(arguments),
            Commands::Rerun(arguments) => rerun::run(arguments),
            Commands::Engines(arguments) => engines::run(&arguments),
            Commands::Explain(arguments) => explain::run(arguments),
            Commands::Id(arguments) => id::run(arguments),
            Commands::Completions(arguments) => completions::run(&arguments, command()),
            Commands::Manual(manual) => {
                manual.run(command())?;
                Ok(ExitCode::SUCCESS)
            }
            Commands::Trial => trial::run(),
        }
    }
}
