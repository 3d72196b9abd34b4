//! The SQLite file that holds a run.

/// Version of the file's format; another one is refused.
pub const FORMAT_VERSION: i64 = 1;

/// An open result file.
pub struct Store;
