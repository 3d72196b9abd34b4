//! The command `inorder-watch`, a file a subcommand.

mod backup;
mod import_films;
mod open;
mod restore;
mod seed;
mod serve;
mod user;

use clap::{CommandFactory, Parser, Subcommand};
use std::{path::PathBuf, process::ExitCode};

/// What to Watch: a watch list for friends, in one SQLite file.
#[derive(Parser)]
#[command(name = "inorder-watch", version)]
struct Arguments {
    /// The database file. `serve`, `import-films`, `user add`, `restore` and `seed` create a missing one
    #[arg(
        long,
        global = true,
        env = "INORDER_WATCH_DB",
        default_value = "watch.db",
        value_name = "FILE"
    )]
    db: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Serve(serve::Serve),
    ImportFilms(import_films::ImportFilms),
    #[command(subcommand)]
    User(user::User),
    Backup(backup::Backup),
    Restore(restore::Restore),
    Seed(seed::Seed),
    #[command(hide = true)]
    Manual(inorder_command::Manual),
}

/// Runs the command line: 0 when it worked, 1 when it didn't, 2 when it made no sense.
pub fn main() -> ExitCode {
    let arguments: Arguments = inorder_command::parse();
    let db = arguments.db;
    let result = match arguments.command {
        Command::Serve(serve) => serve.run(&db),
        Command::ImportFilms(import) => import.run(&db),
        Command::User(user) => user.run(&db),
        Command::Backup(backup) => backup.run(&db),
        Command::Restore(restore) => restore.run(&db),
        Command::Seed(seed) => seed.run(&db),
        Command::Manual(manual) => manual.run(Arguments::command()).map_err(Into::into),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if inorder_command::is_closed_pipe(error.as_ref()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
