//! Reads passwords from a file, a variable or the terminal.

use anyhow::{Context, bail, ensure};
use console::Term;
use inorder_couch::auth::password::{ITERATIONS, PasswordHash, is_hash};
use std::io::IsTerminal;
use std::path::Path;

const VARIABLE: &str = "INORDER_COUCH_PASSWORD";

/// The first line of a file.
pub fn from_file(file: &Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(file);
    let text = text.with_context(|| format!("cannot read the password from {}", file.display()))?;
    let line = text.lines().next().unwrap_or_default();
    if line.is_empty() {
        bail!("{} has no password in its first line", file.display());
    }
    Ok(line.to_owned())
}

/// The variable, unless it is empty.
pub fn from_environment() -> Option<String> {
    std::env::var(VARIABLE).ok().filter(|text| !text.is_empty())
}

/// Reads a password from the terminal, twice, without echo.
pub fn ask(question: &str) -> anyhow::Result<String> {
    if !std::io::stdin().is_terminal() {
        bail!(
            "no password, and no terminal to read it from: set {VARIABLE}, or use --password-file"
        );
    }
    let terminal = Term::stderr();
    let read = |question: &str| -> anyhow::Result<String> {
        terminal.write_str(question)?;
        Ok(terminal.read_secure_line()?)
    };
    let password = read(question)?;
    if password.is_empty() {
        bail!("the password is empty");
    }
    if read("Again: ")? != password {
        bail!("the passwords differ");
    }
    Ok(password)
}

/// Reads a password from the terminal, or the first line of stdin when that is no terminal. `name` is what it is called.
pub fn ask_or_read(question: &str, name: &str) -> anyhow::Result<String> {
    let given = if std::io::stdin().is_terminal() {
        ask(question)?
    } else {
        let text = std::io::read_to_string(std::io::stdin())?;
        text.lines().next().unwrap_or_default().to_owned()
    };
    ensure!(!given.is_empty(), "the {name} is empty");
    Ok(given)
}

/// Whether a password, plain or hashed, is well known.
pub fn is_same(given: &str, known: &PasswordHash) -> bool {
    if is_hash(given) {
        given == known.to_string()
    } else {
        known.verify(given)
    }
}

/// A password that may be hashed already.
pub fn hashed(given: &str) -> anyhow::Result<PasswordHash> {
    if is_hash(given) {
        Ok(given.parse()?)
    } else {
        Ok(PasswordHash::new(given, ITERATIONS))
    }
}
