//! The result of a load.

use serde::Serialize;

use super::Job;
use crate::note::Note;

/// The seconds of wall time of each part of a load. For a load in batches, each is the sum over the batches.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Seconds {
    /// Reading, parsing and encoding, including spilling to disk.
    pub read: f64,
    /// Sorting, including spilling the last run.
    pub sort: f64,
    /// Merging spilled runs and writing.
    pub write: f64,
}

/// The result of a load: rows, the way they were written, and the cost.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// The table.
    pub table: String,
    /// The statement that created it; `None` if it existed.
    pub created: Option<String>,
    /// Whether the load created the database.
    pub is_database_new: bool,
    /// Whether nothing was loaded because the table exists ([`Existing::Skip`](crate::Existing::Skip)).
    pub is_skipped: bool,
    /// Rows read.
    pub rows_read: u64,
    /// Rows written.
    pub rows_written: u64,
    /// Bad rows that were left out.
    pub rows_refused: u64,
    /// Rows written by updating the row that had their key ([`OnDuplicate::Update`](crate::OnDuplicate::Update)).
    pub rows_updated: u64,
    /// Rows left out because another row has their key.
    pub rows_duplicate: u64,
    /// Rows that the table's own constraints or triggers left out without an error.
    pub rows_ignored: u64,
    /// The errors of the first bad rows.
    pub refused_because: Vec<String>,
    /// The columns that rows were sorted by; empty if they were not sorted.
    pub sorted_by: Vec<String>,
    /// Why rows kept the order of the input, if the result depends on their order.
    pub why_not_sorted: Option<String>,
    /// The writer of the rows.
    pub writer: String,
    /// Why the direct page writer was not used.
    pub why_not_direct: Option<String>,
    /// Remarks: decisions of the loader, and how it wrote the rows.
    pub notes: Vec<Note>,
    /// The wall time.
    pub seconds: Seconds,
    /// The CPU seconds of the whole process during the load, user and system.
    pub cpu_seconds: f64,
    /// Bytes read from the inputs, before decompression.
    pub bytes_read: u64,
    /// Bytes written by the process without those spilled; `None` if the system doesn't count them.
    pub bytes_written: Option<u64>,
    /// Bytes spilled to disk.
    pub bytes_spilled: u64,
    /// Bytes that inserts in the order of the input would write, by the model of `METHODOLOGY.md`.
    pub bytes_naive: Option<u64>,
    /// Whether this was a dry run, which writes nothing.
    pub is_dry: bool,
}

impl Summary {
    /// The summary of a load that found its table.
    pub(crate) fn skipped(job: &Job) -> Self {
        Summary {
            table: job.table.clone(),
            is_skipped: true,
            is_dry: job.is_dry,
            ..Summary::default()
        }
    }
}
