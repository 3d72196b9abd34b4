//! The description of a load ([`Job`]), its progress ([`Progress`]) and its result ([`Summary`]).

mod progress;
mod summary;

use std::path::PathBuf;
use std::time::Duration;

use crate::destination::Create;
use crate::encode::Decode;
use crate::source::{DateOrder, Location, ReadOptions};

pub use progress::{Phase, Progress};
pub use summary::{Seconds, Summary};

/// The default of [`Job::busy_timeout`].
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The order in which rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOrder {
    /// The order of the input.
    Input,
    /// Sorted by the key within batches.
    Batch {
        /// Rows per batch.
        rows: u64,
        /// Whether to sort by the first 8 bytes of the key only. Rows with equal prefixes keep their order.
        is_by_prefix: bool,
    },
    /// All rows sorted by the key.
    Full,
}

/// The treatment of a row whose key another row already has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDuplicate {
    /// The load fails and changes nothing.
    #[default]
    Error,
    /// The first row stays.
    Ignore,
    /// The last row stays.
    Replace,
    /// The row that has the key gets the values of the columns that the input gives.
    Update,
    /// The first row stays. The others are written to the file of rejects.
    Report,
}

impl OnDuplicate {
    /// Every value with its name.
    pub const ALL: &[(&str, OnDuplicate)] = &[
        ("error", OnDuplicate::Error),
        ("ignore", OnDuplicate::Ignore),
        ("replace", OnDuplicate::Replace),
        ("update", OnDuplicate::Update),
        ("report", OnDuplicate::Report),
    ];
}

/// The writer for a SQLite database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriterChoice {
    /// The direct page writer if the table allows it, otherwise statements.
    #[default]
    Auto,
    /// The direct page writer. The load fails if the table doesn't allow it.
    Direct,
    /// Prepared INSERT statements.
    Statements,
}

impl WriterChoice {
    /// Every value with its name.
    pub const ALL: &[(&str, WriterChoice)] = &[
        ("auto", WriterChoice::Auto),
        ("direct", WriterChoice::Direct),
        ("statements", WriterChoice::Statements),
    ];
}

/// What a load does with a table that exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Adds rows to it.
    #[default]
    Append,
    /// Adds rows to it if it has none, or if the job has a rule for rows with a key that the table has. Otherwise the
    /// load fails.
    FillEmpty,
    /// Deletes its rows and loads the new ones, in one transaction.
    Truncate,
    /// Drops it and creates it again, in one transaction. Needs [`Job::create`].
    Replace,
    /// Loads nothing.
    Skip,
    /// The load fails.
    Refuse,
}

/// A column and how its text is decoded to bytes; `None` keeps the text.
pub type DecodeAs = (String, Option<Decode>);

/// A load: what is read, where the rows go, and how.
///
/// [`Job::new`] fills in the defaults; set the other fields as needed. [`run`](crate::run) executes the job.
#[derive(Clone, Debug)]
pub struct Job {
    /// The files or tables to read, one after another.
    pub inputs: Vec<Location>,
    /// Settings that replace the defaults of a format.
    pub read_options: ReadOptions,
    /// Names that replace the inputs' column names; `-` omits a column.
    pub columns: Option<Vec<String>>,
    /// Whether to leave out columns that the table doesn't have. Otherwise such a column is an error.
    pub skips_unknown: bool,
    /// The database: the path of a SQLite file, or the URL of a server.
    pub to: String,
    /// The table.
    pub table: String,
    /// The table to create if there is none; `None` if it must exist.
    pub create: Option<Create>,
    /// What is done with a table that exists.
    pub existing: Existing,
    /// The decoding of text in BLOB columns. For other columns the first rows decide.
    pub decode: Vec<DecodeAs>,
    /// Columns of the inputs with dates, and the order of these: they are stored as ISO 8601.
    pub dates: Vec<(String, DateOrder)>,
    /// The order in which rows are written.
    pub order: RowOrder,
    /// The most memory for rows, in bytes. The rest is spilled to disk.
    pub memory_bytes: usize,
    /// The threads that read, sort and write. The result is the same for any number. 0 counts as 1.
    pub threads: usize,
    /// The folder of spilled rows; `None` is the database's own folder, or the system's temporary folder for a server.
    pub spill_folder: Option<PathBuf>,
    /// The treatment of a row whose key another row already has.
    pub on_duplicate: OnDuplicate,
    /// The file that rows which are left out are written to, as JSON lines. An existing file is overwritten.
    pub rejects: Option<PathBuf>,
    /// Bad rows to leave out before the load fails; 0 fails at the first.
    pub errors_max: u64,
    /// The fill factor of the direct page writer, in percent from 10 to 100; `None` is 100.
    pub fill_percent: Option<u8>,
    /// The writer for a SQLite database.
    pub writer: WriterChoice,
    /// The time to wait for the lock of a SQLite database.
    pub busy_timeout: Duration,
    /// Whether to add the columns that the input has and a table of SQLite that exists doesn't have.
    pub alters: bool,
    /// Whether to read, encode and sort the rows without writing them.
    pub is_dry: bool,
}

impl Job {
    /// A load of all rows of these inputs, sorted, into an existing table. A bad or duplicate row fails the load.
    #[must_use]
    pub fn new(inputs: Vec<Location>, to: String, table: String) -> Self {
        Job {
            inputs,
            read_options: ReadOptions::default(),
            columns: None,
            skips_unknown: false,
            to,
            table,
            create: None,
            existing: Existing::Append,
            decode: Vec::new(),
            dates: Vec::new(),
            order: RowOrder::Full,
            memory_bytes: memory_bytes_default(),
            threads: threads_default(),
            spill_folder: None,
            on_duplicate: OnDuplicate::Error,
            rejects: None,
            errors_max: 0,
            fill_percent: None,
            writer: WriterChoice::Auto,
            busy_timeout: BUSY_TIMEOUT,
            alters: false,
            is_dry: false,
        }
    }
}

/// Returns the default of [`Job::memory_bytes`]: a quarter of the machine's memory, in bytes.
pub fn memory_bytes_default() -> usize {
    /// If the system doesn't say how much memory it has.
    const UNKNOWN_BYTES: usize = 1 << 30;
    let info = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = info.lines().find_map(|line| {
        let kilobytes = line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?;
        kilobytes.parse::<usize>().ok()
    });
    total.map_or(UNKNOWN_BYTES, |kilobytes| kilobytes / 4 * 1024)
}

/// Returns the default of [`Job::threads`]: the processors that this process may use.
pub fn threads_default() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
