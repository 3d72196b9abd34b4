//! `inorder completions`: what a shell needs to complete this command.

use crate::terminal;
use anyhow::Result;
use clap_complete::Shell;
use std::process::ExitCode;

/// Prints the completions of this command for a shell, to be put where that shell looks for them.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  inorder completions bash > ~/.local/share/bash-completion/completions/inorder
  inorder completions fish > ~/.config/fish/completions/inorder.fish")]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut crate::command(),
        "inorder",
        &mut script,
    );
    terminal::print(&String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}
