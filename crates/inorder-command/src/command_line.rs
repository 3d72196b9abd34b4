//! The command line of this process, and its output that nobody reads.

use std::error::Error;
use std::io::{self, Write as _};
use std::process;

use clap::Parser;

/// The exit code of a command whose help or version can't be printed.
const NOT_PRINTED: i32 = 1;

/// Whether an error only means that the reader of stdout has closed it.
pub fn is_closed_pipe(error: &(dyn Error + 'static)) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Reads the command line of this process. Exits if it asks for help or the version, with code 1 if that can't be printed, or
/// if it is wrong. A reader that closes the pipe has what it wants.
pub fn parse<C: Parser>() -> C {
    C::try_parse().unwrap_or_else(|refused| {
        let printed = refused.print().and_then(|()| io::stdout().flush());
        process::exit(match printed {
            Err(error) if !refused.use_stderr() && error.kind() != io::ErrorKind::BrokenPipe => {
                // Nothing is left to do if stderr is closed too.
                let _ = writeln!(io::stderr(), "{}: {error}", C::command().get_name());
                NOT_PRINTED
            }
            _ => refused.exit_code(),
        })
    })
}
