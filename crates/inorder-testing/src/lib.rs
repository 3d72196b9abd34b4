//! Functions shared by the tests of several crates: skips. A dev-dependency only.
//!
//! ```
//! // At the start of a test that needs a server:
//! let engine = inorder_engine::engine("sqlite").expect("an engine of the list");
//! if !inorder_testing::is_installed(engine) {
//!     return;
//! }
//! ```

use inorder_engine::{Engine, Error};
use std::fmt::Display;

/// Prints on stderr that a test, or a part of it, is skipped, and why. The caller returns.
///
/// # Panics
/// In CI, which has all that tests need: where the variable `CI` is `true` or `1`.
#[track_caller]
pub fn skip(reason: impl Display) {
    skip_unless(is_ci(std::env::var("CI").ok().as_deref()), &reason);
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
