//! What stdout is: a terminal with colours and a width, or a pipe.

use anyhow::Result;
use inorder_bench::report::Options;
use std::io::{ErrorKind, IsTerminal as _, Write as _};

/// Columns where no terminal says how many.
const WIDTH_WITHOUT_TERMINAL: usize = 120;

/// How a report for this stdout is to look. `NO_COLOR` is honoured.
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

/// Whether an error only says that whoever read our output has had enough.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
