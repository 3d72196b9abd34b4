//! What is to be loaded, and how.

use std::path::PathBuf;

use super::batch::OnDuplicate;
use super::plan::DecodeAs;
use crate::destination::Create;
use crate::source::{Location, Settings};
use crate::target::WriterChoice;

/// In which order rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they come.
    Input,
    /// Sorted within batches of this many rows.
    Batch {
        /// Rows of a batch.
        rows: u64,
        /// Whether by the first 8 bytes of the key alone (as [`crate::Presort::Prefix8`]): rows equal in these stay
        /// as they come.
        is_by_prefix: bool,
    },
    /// All of them sorted.
    Full,
}

/// A load.
#[derive(Clone, Debug)]
pub struct Job {
    /// What is read.
    pub inputs: Vec<Location>,
    /// How it is written, where that isn't as usual.
    pub settings: Settings,
    /// Names of the inputs' columns in place of their own; `-` for one that is left out.
    pub columns: Option<Vec<String>>,
    /// Whether columns that the table doesn't have are left out.
    pub skips_unknown: bool,
    /// The database.
    pub to: String,
    /// The table.
    pub table: String,
    /// How the table is made, where it is.
    pub create: Option<Create>,
    /// How text stands for bytes in columns where that is not to be found out.
    pub decode: Vec<DecodeAs>,
    /// In which order rows are written.
    pub order: Order,
    /// The most memory for rows, in bytes.
    pub memory_bytes: usize,
    /// The folder for what exceeds it; beside the database where none is named.
    pub spill_folder: Option<PathBuf>,
    /// What happens to rows whose key another has.
    pub on_duplicate: OnDuplicate,
    /// The file that rows which are left out are written to.
    pub rejects: Option<PathBuf>,
    /// Bad rows that are left out before the load is given up.
    pub errors_max: u64,
    /// How full pages are made, in percent, where a writer makes them itself.
    pub fill_percent: Option<u8>,
    /// Which writer.
    pub writer: WriterChoice,
    /// Whether everything is done but the writing.
    pub is_dry: bool,
}

impl Job {
    /// A load as usual: into a table that is there, all rows sorted, none left out.
    #[must_use]
    pub fn new(inputs: Vec<Location>, to: String, table: String) -> Self {
        Job {
            inputs,
            settings: Settings::default(),
            columns: None,
            skips_unknown: false,
            to,
            table,
            create: None,
            decode: Vec::new(),
            order: Order::Full,
            memory_bytes: memory_bytes_default(),
            spill_folder: None,
            on_duplicate: OnDuplicate::Error,
            rejects: None,
            errors_max: 0,
            fill_percent: None,
            writer: WriterChoice::Auto,
            is_dry: false,
        }
    }
}

/// The memory that rows may take where nobody says how much: a quarter of what the machine has.
pub fn memory_bytes_default() -> usize {
    let info = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = info.lines().find_map(|line| {
        let kilobytes = line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?;
        kilobytes.parse::<usize>().ok()
    });
    /// Where the system doesn't tell.
    const UNTOLD_BYTES: usize = 1 << 30;
    total.map_or(UNTOLD_BYTES, |kilobytes| kilobytes / 4 * 1024)
}
