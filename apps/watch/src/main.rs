//! The command `inorder-watch`.

use std::process::ExitCode;

fn main() -> ExitCode {
    inorder_watch::commands::main()
}
