//! `hash-password`.

use super::password;
use clap::Args;
use std::io::{IsTerminal, Read};

/// Prints the hash of a password, as `serve --password-file` and CouchDB's configuration accept it.
///
/// The password is read from the terminal, or from stdin when that is no terminal.
#[derive(Debug, Args)]
pub struct HashPassword {}

impl HashPassword {
    pub fn run(self) -> anyhow::Result<()> {
        let password = if std::io::stdin().is_terminal() {
            password::ask("Password: ")?
        } else {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            text.lines().next().unwrap_or_default().to_owned()
        };
        anyhow::ensure!(!password.is_empty(), "the password is empty");
        println!("{}", password::hashed(&password)?);
        Ok(())
    }
}
