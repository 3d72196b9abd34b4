//! The command `inorder`. What it does is in the library, where tests can reach its description.

fn main() -> std::process::ExitCode {
    inorder_cli::run()
}
