//! What a load did.

use serde::Serialize;

/// Seconds of each part of a load. Where rows are read, sorted and written batch by batch, each is the
/// sum over the batches.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Seconds {
    /// Reading, parsing and encoding, and spilling where memory is short.
    pub read: f64,
    /// Sorting, and spilling the last run.
    pub sort: f64,
    /// Writing, merging of what was spilled included.
    pub write: f64,
}

/// What a load did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// The table.
    pub table: String,
    /// The statement that made it, where one did.
    pub created: Option<String>,
    /// Rows read.
    pub rows_read: u64,
    /// Rows written.
    pub rows_written: u64,
    /// Rows that were bad.
    pub rows_refused: u64,
    /// Rows left out because another has their key.
    pub rows_duplicate: u64,
    /// Rows that the table's own constraints or triggers left out without an error.
    pub rows_ignored: u64,
    /// What was wrong with the first bad rows.
    pub refused_because: Vec<String>,
    /// What rows were sorted by; nothing where they weren't.
    pub sorted_by: Vec<String>,
    /// Why they stayed in the order of the input, where the outcome depends on it.
    pub why_not_sorted: Option<String>,
    /// What wrote them.
    pub writer: String,
    /// Why the direct writer didn't.
    pub why_not_direct: Option<String>,
    /// Further things to know.
    pub notes: Vec<String>,
    /// Seconds.
    pub seconds: Seconds,
    /// CPU seconds of the whole process while it loaded, its system time included.
    pub cpu_seconds: f64,
    /// Bytes of the inputs.
    pub bytes_read: u64,
    /// Bytes that were written, what was spilled left out; nothing where the system doesn't tell.
    pub bytes_written: Option<u64>,
    /// Bytes that were spilled.
    pub bytes_spilled: u64,
    /// Bytes that inserts in the order of the input would write, by the model of METHODOLOGY.md.
    pub bytes_naive: Option<u64>,
    /// Whether nothing was written because nothing was to be.
    pub is_dry: bool,
}

/// CPU seconds of this process so far, and bytes it handed to the system to write.
pub(super) fn usage() -> (f64, Option<u64>) {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    (time.tv_sec as f64 + time.tv_nsec as f64 / 1e9, io())
}

fn io() -> Option<u64> {
    let io = std::fs::read_to_string("/proc/self/io").ok()?;
    let line = io.lines().find_map(|line| line.strip_prefix("wchar: "))?;
    line.trim().parse().ok()
}
