//! Functions shared by the tests of several crates: skips and folders of servers. A dev-dependency only.
//!
//! ```
//! // At the start of a test that needs a server:
//! let engine = inorder_engine::engine("sqlite").expect("an engine of the list");
//! if !inorder_testing::is_installed(engine) {
//!     return;
//! }
//! ```

mod server;

pub use server::PrivateServer;

use inorder_engine::{Engine, Error, TEMPLATES};
use std::{
    env,
    fmt::Display,
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
};
use tempfile::TempDir;

/// Variable with the folder for the data of servers. `./test` sets it to a folder in memory.
const SERVERS: &str = "INORDER_TEST_SERVERS";

/// Prints on stderr that a test, or a part of it, is skipped, and why. The caller returns.
///
/// # Panics
/// In CI, which has all that tests need: where the variable `CI` is `true` or `1`.
#[track_caller]
pub fn skip(reason: impl Display) {
    skip_unless(is_ci(env::var("CI").ok().as_deref()), &reason);
}

/// Whether an engine is installed. If not, the test is skipped, with the command that installs the engine as the reason.
///
/// # Panics
/// Like [`skip`], and if an installed engine does not answer.
#[track_caller]
pub fn is_installed(engine: &dyn Engine) -> bool {
    match engine.found() {
        Ok(_) => true,
        Err(reason @ Error::NotInstalled { .. }) => {
            skip(reason);
            false
        }
        Err(error) => panic!("{}: {error}", engine.name()),
    }
}

/// Returns the folder that contains the data of the servers of tests, and prepared data folders that tests share. It
/// is the one in `INORDER_TEST_SERVERS`, or else `on_disk`, such as `env!("CARGO_TARGET_TMPDIR")`.
///
/// # Panics
/// If the folder of prepared data folders cannot be created.
pub fn servers_folder(on_disk: &str) -> PathBuf {
    let base = env::var_os(SERVERS).map_or_else(|| on_disk.into(), PathBuf::from);
    fs::create_dir_all(base.join(TEMPLATES)).expect("a folder for prepared data folders");
    base
}

/// Creates a folder for the data of a server in [`servers_folder`].
///
/// # Panics
/// If the folder cannot be created.
pub fn server_folder(on_disk: &str) -> TempDir {
    opened(tempfile::tempdir_in(servers_folder(on_disk)))
}

/// Creates a folder that every user can reach: in `INORDER_TEST_SERVERS`, or else among the temporary files.
///
/// # Panics
/// If the folder cannot be created.
pub fn reachable_folder() -> TempDir {
    let folder = env::var_os(SERVERS).map_or_else(tempfile::tempdir, tempfile::tempdir_in);
    opened(folder)
}

/// Lets every user pass through a folder. Servers of root's tests run as another user, and an engine puts the data
/// elsewhere if that user cannot reach them.
fn opened(folder: io::Result<TempDir>) -> TempDir {
    let folder = folder.expect("a folder");
    let passable = Permissions::from_mode(0o711);
    fs::set_permissions(folder.path(), passable).expect("an own folder");
    folder
}

fn is_ci(variable: Option<&str>) -> bool {
    matches!(variable, Some("true" | "1"))
}

#[track_caller]
fn skip_unless(is_ci: bool, reason: &dyn Display) {
    assert!(!is_ci, "CI forbids skips: {reason}");
    eprintln!("SKIPPED: {reason}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_is_a_message() {
        skip_unless(false, &"no server");
        for elsewhere in [None, Some(""), Some("false"), Some("0")] {
            assert!(!is_ci(elsewhere), "{elsewhere:?}");
        }
    }

    #[test]
    #[should_panic(expected = "CI forbids skips: no server")]
    fn a_skip_in_ci_is_a_failure() {
        skip_unless(is_ci(Some("true")), &"no server");
    }
}
