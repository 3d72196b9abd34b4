//! `inorder completions`: what a shell needs to complete this command.

use crate::terminal;
use anyhow::Result;
use clap::Command;
use clap_complete::Shell;
use std::process::ExitCode;

/// Prints the shell completions of this command. Write them to the folder where the shell looks for completions.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  inorder completions bash > ~/.local/share/bash-completion/completions/inorder
  inorder completions fish > ~/.config/fish/completions/inorder.fish")]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

pub fn run(arguments: &Arguments, mut command: Command) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "inorder", &mut script);
    terminal::print(&String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}
