//! What can go wrong between a source and a batch.

use std::io;
use std::path::{Path, PathBuf};

/// Errors of this crate. Each message says what was wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A column cannot be filled as asked.
    #[error("a column cannot be filled: {what}; {remedy}")]
    Fill {
        /// What is wrong.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A file could not be opened, or its first bytes not read.
    #[error("cannot open {path}: {source}; check the path and whether you may read it")]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file could not be read to its end.
    #[error(
        "{path}, line {line}: cannot read on: {source}; \
         if the file is compressed, `gzip -t` tells whether it is whole"
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// The line that was to be read, from 1.
        line: u64,
        /// The system's or the decompressor's reason.
        source: io::Error,
    },
    /// A file is of no known format.
    #[error(
        "{path}: neither name nor content tells what rows it holds; bring one of these, \
         plain or compressed with gzip or zstd:{}",
        listed(known)
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// The formats that can be read.
        known: Vec<&'static str>,
    },
    /// A format that is read here and there came from a pipe or compressed.
    #[error("{path} can only be read as a plain file; save or decompress it first")]
    NotAFile {
        /// The file.
        path: PathBuf,
    },
    /// A binary file is damaged, or has something in it that can't be read.
    #[error("{path}: cannot be read on: {what}; check that the file is whole")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What its reader says.
        what: String,
    },
    /// A pattern names no input.
    #[error("{pattern}: {what}; quote it so that the shell leaves it alone, or name the files")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        what: String,
    },
    /// SQLite refuses.
    #[error("{path}: {}", reason(source))]
    Database {
        /// The database.
        path: PathBuf,
        /// SQLite's reason.
        source: rusqlite::Error,
    },
    /// A table is not in a database, or it isn't said which.
    #[error("{path} {wanted}; {}", offered(*are_alike, present))]
    NoSuchTable {
        /// The database.
        path: PathBuf,
        /// What was asked for.
        wanted: String,
        /// Whether `present` holds the tables with similar names, or all.
        are_alike: bool,
        /// Tables that are there.
        present: Vec<String>,
    },
    /// A table can't be made as asked.
    #[error("{what}")]
    Create {
        /// What is wrong, and what to do.
        what: String,
    },
    /// What is asked for can't be done.
    #[error("{what}")]
    Refused {
        /// What is wrong, and what to do.
        what: String,
    },
    /// Two rows have the same key.
    #[error(
        "{first} and {second} have the same key in {table}; correct one, or say what is to be done with \
         the second (--on-duplicate ignore, replace or report)"
    )]
    Duplicate {
        /// File and line of the row that came first, or that the table has it.
        first: String,
        /// File and line of the other.
        second: String,
        /// The table.
        table: String,
    },
    /// The database doesn't take a row.
    #[error("{at}: {what}")]
    Row {
        /// File and line.
        at: String,
        /// What the database says.
        what: String,
    },
    /// More rows are bad than are put up with.
    #[error("{bad} bad rows, the last one: {last}")]
    TooManyErrors {
        /// How many.
        bad: u64,
        /// The last one's error.
        last: Box<Error>,
    },
    /// A file of rejects, duplicates or spilled runs can't be written or read back.
    #[error("{path}: {source}; nothing was loaded")]
    Work {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The disk has no room for what is to be written.
    #[error(
        "{path}: about {} MB are needed there and {} MB are free; make room{}",
        needed_bytes.div_ceil(1 << 20),
        free_bytes >> 20,
        if *is_spilled { ", or name another folder for what exceeds the memory (--spill)" } else { "" }
    )]
    DiskFull {
        /// The file or folder.
        path: PathBuf,
        /// What is needed.
        needed_bytes: u64,
        /// What is free.
        free_bytes: u64,
        /// Whether it is for what exceeds the memory, and could go elsewhere.
        is_spilled: bool,
    },
    /// SQLite found no room left on the disk.
    #[error(
        "{path}: no room is left on the disk; the database is as it was: make room and run it again"
    )]
    Full {
        /// The database, or the file beside it.
        path: PathBuf,
    },
    /// An engine refuses.
    #[error(transparent)]
    Engine(#[from] inorder_engine::Error),
    /// Somebody asked it to stop.
    #[error("stopped; the database is as it was")]
    Stopped,
    /// A line breaks the rules of its format.
    #[error("{path}, line {line}{at}: {what}; {remedy}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// Where in the line, as `, column 7`; empty where that is not known.
        at: String,
        /// What is wrong.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A column asked for is not in the file.
    #[error("{path} has no column `{column}`; {}", offered(*are_alike, present))]
    NoSuchColumn {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        column: String,
        /// Whether `present` holds the columns with similar names, or all.
        are_alike: bool,
        /// Columns that are there.
        present: Vec<String>,
    },
    /// A file has nothing to write.
    #[error("{path} has no rows; bring a file that has at least one")]
    NoRows {
        /// The file.
        path: PathBuf,
    },
    /// The text of one column takes 4 GiB or more.
    #[error(
        "{path}: column `{column}` holds 4 GiB of text or more; leave it out or split the file"
    )]
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
        let (are_alike, present) = match wanted {
            Some(name) => crate::nearest::nearest(name, present),
            None => (false, present.into_iter().map(str::to_owned).collect()),
        };
        Error::NoSuchTable {
            path: path.to_owned(),
            wanted: match wanted {
                Some(name) => format!("has no table `{name}`"),
                None => "doesn't have just one table: say which (file.db:table)".to_owned(),
            },
            are_alike,
            present,
        }
    }

    pub(crate) fn too_much_text(path: &Path, column: &str) -> Self {
        Error::TooMuchText {
            path: path.to_owned(),
            column: column.to_owned(),
        }
    }
}

/// What SQLite says, without the numbers of its errors.
fn reason(source: &rusqlite::Error) -> String {
    let said = source.to_string();
    match said.split_once(": Error code ") {
        Some((what, _)) => what.to_owned(),
        None => said,
    }
}

fn listed(known: &[&str]) -> String {
    known.iter().map(|form| format!("\n  - {form}")).collect()
}

fn offered(are_alike: bool, present: &[String]) -> String {
    if present.is_empty() {
        return "it has none".to_owned();
    }
    let names: Vec<String> = present.iter().map(|name| format!("`{name}`")).collect();
    match (are_alike, names.len()) {
        (true, 1) => format!("did you mean {}?", names[0]),
        (true, _) => format!("did you mean one of {}?", names.join(", ")),
        (false, _) => format!("it has {}", names.join(", ")),
    }
}
