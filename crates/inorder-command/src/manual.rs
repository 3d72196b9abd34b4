//! The subcommand with which a command writes its man pages and shell completions for packages.

use std::fs;
use std::io;
use std::path::PathBuf;

use clap::Command;
use clap_complete::Shell;

/// Writes the man pages and the shell completions of this command, for packages.
#[derive(Debug, clap::Args)]
pub struct Manual {
    /// The folder to write to: `man` in it gets the pages, `completions` the scripts
    folder: PathBuf,
}

impl Manual {
    /// Writes one man page per visible subcommand, and the completions for bash, zsh and fish.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn run(&self, command: Command) -> io::Result<()> {
        let pages = self.folder.join("man");
        fs::create_dir_all(&pages)?;
        clap_mangen::generate_to(command.clone(), pages)?;
        let scripts = self.folder.join("completions");
        fs::create_dir_all(&scripts)?;
        let name = command.get_name().to_owned();
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            clap_complete::generate_to(shell, &mut command.clone(), &name, &scripts)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visible_subcommands_have_pages_and_completions() {
        let folder = tempfile::tempdir().unwrap();
        let command = Command::new("tool")
            .about("Does things.")
            .subcommand(Command::new("shown").about("Is shown."))
            .subcommand(Command::new("kept").about("Is kept back.").hide(true));
        let manual = Manual {
            folder: folder.path().to_owned(),
        };
        manual.run(command).unwrap();
        let read = |path: &str| fs::read_to_string(folder.path().join(path));
        assert!(read("man/tool.1").unwrap().contains("tool\\-shown(1)"));
        assert!(read("man/tool-shown.1").unwrap().contains("Is shown."));
        assert!(read("man/tool-kept.1").is_err());
        for script in ["tool.bash", "_tool", "tool.fish"] {
            let script = read(&format!("completions/{script}")).unwrap();
            assert!(script.contains("shown"), "{script}");
        }
    }
}
