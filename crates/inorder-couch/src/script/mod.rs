//! JavaScript of design documents, in QuickJS, in processes of their own: what does not return is killed with its process.
//!
//! [`Scripts`] is all that the server knows of it: it takes a [`Function`] and the documents it is to be called with. Behind
//! it are processes that run the same program with a hidden subcommand ([`host`]), bound in number for each database and for
//! the server.

mod function;
pub mod host;
mod lane;
mod process;
mod sandbox;
mod scripts;
mod wire;

pub use function::Function;
pub use lane::{Owner, Purpose};
pub use process::SUBCOMMAND;
pub use scripts::{Scripts, Settings};

use std::time::Duration;

/// What one function may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The heap with the documents in it.
    pub memory_bytes_max: usize,
    /// One call, and compiling the function.
    pub time_max: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            memory_bytes_max: 64 << 20,
            time_max: Duration::from_secs(5),
        }
    }
}

/// What went wrong in a function of a design document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// It is no function, or says what can't be understood.
    #[error("The function cannot be compiled: {0}")]
    Compile(String),
    /// It threw, or ran out of memory or stack.
    #[error("The function failed: {0}")]
    Failed(String),
    /// It took longer than its limit.
    #[error("The function was stopped after {0:?}.")]
    Timeout(Duration),
    /// Too many functions of the database run already.
    #[error("The functions of this database are busy; try again.")]
    Busy,
}

/// What a validation function says about an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It may be written.
    Fine,
    /// It may not, and why.
    Forbidden(String),
    /// Not by this user, and why.
    Unauthorized(String),
}
