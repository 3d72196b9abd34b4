//! The log of a server, on stderr.

use std::io::{IsTerminal, stderr};
use tracing_subscriber::filter::{ParseError, Targets};
use tracing_subscriber::{fmt, prelude::*};

/// Writes log records to stderr from now on. Colours are used on a terminal, unless `NO_COLOR` is set.
///
/// `filter` is a level such as `info`, or a list of directives such as `warn,inorder_couch=debug`.
///
/// # Errors
/// If the filter cannot be parsed; the text says why.
pub fn start_log(filter: &str) -> Result<(), String> {
    let filter: Targets = filter
        .parse()
        .map_err(|error: ParseError| error.to_string())?;
    let lines = fmt::layer()
        .with_writer(stderr)
        .with_ansi(stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none())
        .with_target(false)
        // A server continues when its terminal is closed.
        .log_internal_errors(false);
    tracing_subscriber::registry()
        .with(filter)
        .with(lines)
        .init();
    Ok(())
}
