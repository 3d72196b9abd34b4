//! `hash-password`.

use super::password;
use clap::Args;
use std::io::{Write as _, stdout};

/// Prints the hash of a password, as `serve --password-file` and CouchDB's configuration accept it.
///
/// The password is read from the terminal, or from stdin when that is no terminal.
#[derive(Debug, Args)]
pub struct HashPassword {}

impl HashPassword {
    pub fn run(self) -> anyhow::Result<()> {
        let password = password::ask_or_read("Password: ", "password")?;
        writeln!(stdout(), "{}", password::hashed(&password)?)?;
        Ok(())
    }
}
