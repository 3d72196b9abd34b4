//! `livesync-uri`.

use super::location::Dir;
use super::{identity, livesync, password};
use clap::Args;
use std::io::{Write as _, stdout};

/// Prints a new setup URI for Obsidian's plugin Self-hosted LiveSync, and sets a new password of its account.
///
/// No server may use the folder meanwhile. The passphrase of the vault's encryption is read from the terminal, or from stdin
/// when that is no terminal: the server does not know it. The plugin shows it in its settings on each device that is set up.
/// The devices that are set up already need the new setup URI, too.
#[derive(Debug, Args)]
pub struct LiveSyncUri {
    #[command(flatten)]
    dir: Dir,
    /// The URL at which devices reach the server.
    #[arg(long, value_name = "URL")]
    livesync_url: String,
}

impl LiveSyncUri {
    pub fn run(self) -> anyhow::Result<()> {
        let _no_server = self.dir.open()?;
        let config = identity::open(&self.dir.dir)?;
        let passphrase = password::ask_or_read("Passphrase of the vault: ", "passphrase")?;
        let uri = livesync::renew(&config, &self.livesync_url, &passphrase)?;
        writeln!(stdout(), "{uri}")?;
        Ok(())
    }
}
