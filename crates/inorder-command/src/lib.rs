//! What all commands share: how they read their command line and see that nobody reads their output, and their hidden
//! subcommand `manual`.

mod command_line;
mod manual;

pub use command_line::{is_closed_pipe, parse};
pub use manual::Manual;
