//! The limits and the results of functions.

use super::wire::Method;
use std::time::Duration;

/// The limits of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptLimits {
    /// The heap with the documents in it. Without a limit, the heap has 64 MiB and in addition what the documents take.
    pub memory_bytes_max: Option<usize>,
    /// One call, and compiling the function. The time that a large document takes to read is added.
    pub time_max: Duration,
    /// The largest document, as JSON.
    pub document_bytes_max: usize,
}

impl Default for ScriptLimits {
    fn default() -> Self {
        ScriptLimits {
            memory_bytes_max: None,
            time_max: Duration::from_secs(5),
            document_bytes_max: 50_000_000,
        }
    }
}

/// The heap without the documents, as CouchDB's.
const MEMORY_BYTES: usize = 64 << 20;

/// The bytes of heap per byte of JSON. Frozen arrays of one empty array, `[[]]`, take the most: 103.
const HEAP_PER_JSON_BYTE: usize = 128;

/// A call has a second more for so many bytes of JSON. Reading and freezing such arrays takes 0.2 s on an idle machine.
const JSON_BYTES_PER_SECOND: usize = 100_000;

/// The bytes of an answer per byte of JSON, in addition to those of all answers: functions emit documents.
const ANSWER_PER_JSON_BYTE: usize = 8;

/// Documents of fewer bytes count as small.
const SMALL_JSON_BYTES: usize = 256 << 10;

/// The memory for large documents of all processes is that of the largest document, in so many parts.
pub(super) const LARGE_PARTS: usize = 1000;

impl ScriptLimits {
    /// The heap of a call that is given so many bytes of JSON.
    pub(super) fn heap_bytes(&self, json_bytes: usize) -> usize {
        let grown = MEMORY_BYTES.saturating_add(json_bytes.saturating_mul(HEAP_PER_JSON_BYTE));
        self.memory_bytes_max.unwrap_or(grown)
    }

    /// The memory of a process.
    pub(super) fn process_bytes(&self) -> usize {
        // An update has two documents.
        let heap = self.heap_bytes(self.document_bytes_max.saturating_mul(2));
        heap.saturating_add(self.heap_bytes(0) * (FUNCTIONS_FACTOR - 1))
    }

    /// The time of a call that is given so many bytes of JSON.
    pub(super) fn time(&self, json_bytes: usize) -> Duration {
        let more = Duration::from_secs((json_bytes / JSON_BYTES_PER_SECOND) as u64);
        self.time_max.saturating_add(more)
    }

    /// The largest answer to a call that is given so many bytes of JSON.
    pub(super) fn answer_bytes(method: Method, json_bytes: usize) -> u32 {
        let more = json_bytes.saturating_mul(ANSWER_PER_JSON_BYTE);
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        method.answer_bytes_max().saturating_add(more)
    }

    /// The share of the memory for large documents that a call takes, in parts of [`LARGE_PARTS`]; none for small documents.
    pub(super) fn large_parts(&self, json_bytes: usize) -> Option<u32> {
        let is_large = self.memory_bytes_max.is_none() && json_bytes >= SMALL_JSON_BYTES;
        let parts = json_bytes.saturating_mul(LARGE_PARTS) / self.document_bytes_max.max(1);
        is_large.then(|| parts.clamp(1, LARGE_PARTS) as u32)
    }
}

/// All functions of a process together may have that many times the memory of one.
const FUNCTIONS_FACTOR: usize = 4;

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
    #[error(
        "The function used more memory than it may: {0} bytes. The setting is [quickjs] memory_limit_bytes."
    )]
    Memory(usize),
    /// Its answer, such as the rows of a document, is larger than it may be.
    #[error("The answer of the function has more than {0} bytes.")]
    LargeAnswer(u32),
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
