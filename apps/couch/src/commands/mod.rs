//! The subcommands, one per file.

mod backup;
mod doctor;
mod export;
mod hash_password;
mod health;
mod identity;
mod import;
mod listeners;
mod livesync;
mod livesync_uri;
mod location;
mod password;
mod progress;
mod script_host;
mod serve;
mod setup_uri;
mod tls;
mod usage;

pub use usage::UsageError;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// A document server that speaks CouchDB's protocol and stores each database in one SQLite file.
///
/// Start it with `inorder-couch serve`, then open http://127.0.0.1:5984/_utils/ in a browser.
#[derive(Debug, Parser)]
#[command(name = "inorder-couch", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    // It has many options.
    Serve(Box<serve::Serve>),
    Backup(backup::Backup),
    Doctor(doctor::Doctor),
    Export(export::Export),
    Import(import::Import),
    HashPassword(hash_password::HashPassword),
    Health(health::Health),
    #[command(name = "livesync-uri")]
    LiveSyncUri(livesync_uri::LiveSyncUri),
    #[command(hide = true)]
    Manual(inorder_command::Manual),
    #[command(hide = true)]
    ScriptHost(script_host::ScriptHost),
}

impl Cli {
    /// Does what the command line asks for.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let ran = match self.command {
            Command::Serve(command) => command.run(),
            Command::Backup(command) => command.run(),
            Command::Doctor(command) => return command.run(),
            Command::Export(command) => command.run(),
            Command::Import(command) => command.run(),
            Command::HashPassword(command) => command.run(),
            Command::Health(command) => command.run(),
            Command::LiveSyncUri(command) => command.run(),
            Command::Manual(manual) => manual.run(Self::command()).map_err(Into::into),
            Command::ScriptHost(command) => return Ok(command.run()),
        };
        ran.map(|()| ExitCode::SUCCESS)
    }
}
