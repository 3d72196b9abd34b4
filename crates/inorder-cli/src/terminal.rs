//! Detects the properties of stdout: a terminal with colours and a width, or a pipe.

use anyhow::{Context as _, Result};
use inorder_bench::report::Options;
use std::{
    fs,
    io::{IsTerminal as _, Write as _},
    path::Path,
};

/// Columns where no terminal says how many.
const WIDTH_WITHOUT_TERMINAL: usize = 120;

/// The style of a report for this stdout. `NO_COLOR` is honoured.
pub fn options() -> Options {
    let is_terminal = std::io::stdout().is_terminal();
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let (_, columns) = console::Term::stdout().size_checked().unwrap_or((0, 0));
    Options {
        color: is_terminal && !no_color,
        width: match (is_terminal, columns) {
            (true, 1..) => usize::from(columns),
            _ => WIDTH_WITHOUT_TERMINAL,
        },
    }
}

/// Prints data.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}

/// An error and its causes. A message that ends with its cause's own words says them once.
pub fn in_words(error: &anyhow::Error) -> String {
    let mut words = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if words.is_empty() {
            words = cause;
        } else if !words.contains(&cause) {
            words += &format!(": {cause}");
        }
    }
    words
}

/// Writes a file whole or not at all: what was there stays until the new text is complete. Pipes
/// and devices are written to.
pub fn write_file(path: &Path, text: &str) -> Result<()> {
    let is_special = path.metadata().is_ok_and(|metadata| !metadata.is_file());
    let written = if is_special {
        fs::write(path, text)
    } else {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let part = path.with_file_name(name);
        fs::write(&part, text)
            .and_then(|()| fs::rename(&part, path))
            .inspect_err(|_| _ = fs::remove_file(&part))
    };
    written.with_context(|| format!("can't write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_said_once() {
        let cause = || std::io::Error::other("no room");
        let said = anyhow::Error::new(inorder_bench::Error::Io {
            path: "a".into(),
            source: cause(),
        });
        assert_eq!(in_words(&said), "a: no room");
        assert_eq!(
            in_words(&anyhow::Error::new(cause()).context("b")),
            "b: no room"
        );
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write_file(&path, "old").unwrap();
        write_file(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_file(folder.path(), "text").is_err());
    }
}
