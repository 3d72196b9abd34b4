//! The errors of this crate.

use std::io;
use std::path::{Path, PathBuf};

use inorder_engine::similar;

/// The error of a load. Its message says what is wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file can't be opened, or its first bytes can't be read.
    #[error("cannot open {path}: {source}; check the path and your read permission")]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file can't be read to its end.
    #[error(
        "{path}, line {line}: cannot continue reading: {source}; \
         if the file is compressed, check it with `gzip -t`"
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The system's or the decompressor's reason.
        source: io::Error,
    },
    /// The file of a URL can't be downloaded.
    #[error("cannot download {path}: {source}")]
    Download {
        /// The URL, without secrets.
        path: PathBuf,
        /// What the server or the connection said.
        source: io::Error,
    },
    /// The format of a file is unknown.
    #[error(
        "{path}: neither the name nor the content matches a known format; supply one of these, \
         plain or compressed with gzip or zstd:{}",
        listed(known)
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// The known formats.
        known: Vec<&'static str>,
    },
    /// A format that needs random access came from a pipe or compressed.
    #[error("{path} can only be read as a plain file; save or decompress it first")]
    NotAFile {
        /// The file.
        path: PathBuf,
    },
    /// A binary file is damaged or has unsupported content.
    #[error("{path}: cannot continue reading: {what}; check that the file is complete")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of its reader.
        what: String,
    },
    /// A pattern is wrong or matches no file.
    #[error("{pattern}: {what}; quote it so that the shell does not expand it, or name the files")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// The fault.
        what: String,
    },
    /// SQLite failed.
    #[error("{path}: {}", reason(source))]
    Database {
        /// The database.
        path: PathBuf,
        /// SQLite's reason.
        source: rusqlite::Error,
    },
    /// A table doesn't exist, or none of several was named.
    #[error("{path} {wanted}; {hint}")]
    NoSuchTable {
        /// The database.
        path: PathBuf,
        /// The requested table.
        wanted: String,
        /// The tables with similar names, or all tables.
        hint: String,
    },
    /// A table can't be created as the job says.
    #[error("{what}")]
    Create {
        /// The fault and the remedy.
        what: String,
    },
    /// The job can't be executed.
    #[error("{what}")]
    Refused {
        /// The fault and the remedy.
        what: String,
    },
    /// Two rows have the same key, and the job has no rule for that.
    #[error(
        "{first} and {second} have the same key in {table}; correct one, or choose what happens to \
         the second (--on-duplicate ignore, replace or report)"
    )]
    Duplicate {
        /// The file and line of the first row, or a note that the table has it.
        first: String,
        /// The file and line of the other row.
        second: String,
        /// The table.
        table: String,
    },
    /// The database refuses a row.
    #[error("{at}: {what}")]
    Row {
        /// File and line.
        at: String,
        /// The database's message.
        what: String,
    },
    /// A value doesn't fit the type that the first rows gave its column. [`run`](crate::run) then looks at all rows.
    #[error("{path}, line {line}, column `{column}`: {what}; {remedy}")]
    Guess {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The column.
        column: String,
        /// The fault.
        what: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// A row or a file has a column that the first rows, which a created table is made for, didn't have.
    #[error("{what}")]
    NewColumn {
        /// The fault and the remedy.
        what: String,
    },
    /// More rows are bad than [`Job::errors_max`](crate::Job::errors_max).
    #[error("{bad} bad rows, the last one: {last}")]
    TooManyErrors {
        /// The number of bad rows.
        bad: u64,
        /// The last one's error.
        last: Box<Error>,
    },
    /// A file of rejects or spilled rows can't be written or read back.
    #[error("{path}: {source}; nothing was loaded")]
    Work {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The disk doesn't have the room that the load needs.
    #[error(
        "{path}: the load needs about {} MB and {} MB are free; free some space{}",
        needed_bytes.div_ceil(1 << 20),
        free_bytes >> 20,
        if *is_spilled { ", or name another folder for spilled rows (--spill)" } else { "" }
    )]
    DiskFull {
        /// The file or folder.
        path: PathBuf,
        /// The bytes needed.
        needed_bytes: u64,
        /// The bytes free.
        free_bytes: u64,
        /// Whether it is for spilled rows, whose folder can be chosen.
        is_spilled: bool,
    },
    /// The disk became full while SQLite wrote.
    #[error(
        "{path}: the disk is full; the database is unchanged: free some space and run the load again"
    )]
    Full {
        /// The database, or the file beside it.
        path: PathBuf,
    },
    /// A server or its driver failed.
    #[error(transparent)]
    Engine(#[from] inorder_engine::Error),
    /// The caller's rows ended with an error, or the caller refused what was written.
    #[error(transparent)]
    Caller(Box<dyn std::error::Error + Send + Sync>),
    /// The load was stopped by [`Progress::stop`](crate::Progress::stop).
    #[error("stopped; the database is unchanged")]
    Stopped,
    /// A line breaks the rules of its format.
    #[error("{path}, line {line}{at}: {what}; {remedy}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The place in the line, as `, column 7`; empty if unknown.
        at: String,
        /// The fault.
        what: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// A file doesn't have a named column.
    #[error("{path} has no column `{column}`; {hint}")]
    NoSuchColumn {
        /// The file.
        path: PathBuf,
        /// The name.
        column: String,
        /// The columns with similar names, or all columns.
        hint: String,
    },
    /// A file has no rows.
    #[error("{path} has no rows; supply a file with at least one row")]
    NoRows {
        /// The file.
        path: PathBuf,
    },
    /// The text of a column that is read into memory takes 4 GiB or more.
    #[error("{path}: column `{column}` contains 4 GiB of text or more; omit it or split the file")]
    TooMuchText {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
    },
}

impl Error {
    pub(crate) fn no_such_table<'a>(
        path: &Path,
        wanted: Option<&str>,
        present: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Error::NoSuchTable {
            path: path.to_owned(),
            wanted: match wanted {
                Some(name) => format!("has no table `{name}`"),
                None => {
                    let file = path.file_name().unwrap_or_default().to_string_lossy();
                    format!("has several tables, or none; name one ({file}:NAME)")
                }
            },
            hint: offer(wanted.unwrap_or_default(), present),
        }
    }

    pub(crate) fn no_such_column<'a>(
        path: &Path,
        column: &str,
        present: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Error::NoSuchColumn {
            path: path.to_owned(),
            column: column.to_owned(),
            hint: offer(column, present),
        }
    }

    pub(crate) fn too_much_text(path: &Path, column: &str) -> Self {
        Error::TooMuchText {
            path: path.to_owned(),
            column: column.to_owned(),
        }
    }
}

/// The message of SQLite without its error codes.
fn reason(source: &rusqlite::Error) -> String {
    let said = source.to_string();
    let what = said
        .split_once(": Error code ")
        .map_or(&*said, |(what, _)| what);
    match source.sqlite_error_code() {
        Some(rusqlite::ErrorCode::ReadOnly) => {
            format!("{what}; check your write permission for it and its folder")
        }
        _ => what.to_owned(),
    }
}

fn listed(known: &[&str]) -> String {
    known.iter().map(|form| format!("\n  - {form}")).collect()
}

/// Names what may have been meant by a wrong name, or all that exists.
pub(crate) fn offer<'a>(wrong: &str, present: impl IntoIterator<Item = &'a str>) -> String {
    let present: Vec<&str> = present.into_iter().collect();
    let quoted = |names: &[&str]| format!("`{}`", names.join("`, `"));
    match &similar(wrong, present.iter().copied())[..] {
        [] if present.is_empty() => "it has none".to_owned(),
        [] => format!("it has {}", quoted(&present)),
        [only] => format!("did you mean `{only}`?"),
        several => format!("did you mean one of {}?", quoted(several)),
    }
}
