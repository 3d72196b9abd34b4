//! The limits and the results of functions.

use std::time::Duration;

/// The limits of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptLimits {
    /// The heap with the documents in it.
    pub memory_bytes_max: usize,
    /// One call, and compiling the function.
    pub time_max: Duration,
}

impl Default for ScriptLimits {
    fn default() -> Self {
        ScriptLimits {
            memory_bytes_max: 64 << 20,
            time_max: Duration::from_secs(5),
        }
    }
}

/// The error of a function of a design document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// It is no function, or says what can't be understood.
    #[error("The function cannot be compiled: {0}")]
    Compile(String),
    /// Its process could not be started, or ended.
    #[error("The function failed: {0}")]
    Failed(String),
    /// It threw, or ran out of stack.
    #[error("{reason}")]
    Thrown {
        /// The name of the error, such as `TypeError`, or CouchDB's for what is no error.
        name: String,
        /// Its message.
        reason: String,
    },
    /// It ran out of memory.
    #[error("The function used more memory than it may.")]
    Memory,
    /// It took longer than its limit.
    #[error("The function was stopped after {0:?}.")]
    Timeout(Duration),
    /// Too many functions of the database run already.
    #[error("The functions of this database are busy; try again.")]
    Busy,
}

/// The verdict of a validation function about an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It may be written.
    Fine,
    /// It may not, and why.
    Forbidden(String),
    /// Not by this user, and why.
    Unauthorized(String),
}
