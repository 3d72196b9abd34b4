//! Rows that are not loaded: counted, and kept where somebody wants them.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::Error;

/// Messages kept for the summary.
const TOLD_MAX: usize = 10;

/// Bad rows and duplicates.
pub struct Rejects {
    file: Option<(PathBuf, BufWriter<File>)>,
    errors_max: u64,
    errors: u64,
    told: Vec<String>,
}

/// Empties or makes a file. A new one is readable by its owner alone.
fn create_private(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)
}

impl Rejects {
    /// Nothing rejected yet. The file, if any, is begun anew: a JSON object a line with `file`, `line`,
    /// `error` and, where there is one, the row's `text`. Nobody but its owner may read it: it has rows.
    pub(super) fn new(path: Option<&Path>, errors_max: u64) -> Result<Self, Error> {
        let file = path.map(|path| match create_private(path) {
            Ok(file) => Ok((path.to_owned(), BufWriter::new(file))),
            Err(source) => Err(Error::Work {
                path: path.to_owned(),
                source,
            }),
        });
        Ok(Rejects {
            file: file.transpose()?,
            errors_max,
            errors: 0,
            told: Vec::new(),
        })
    }

    /// Takes a bad row.
    ///
    /// # Errors
    /// The row's own error where none is put up with, [`Error::TooManyErrors`] where there were enough.
    pub fn bad(&mut self, file: &Path, line: u64, text: &[u8], error: Error) -> Result<(), Error> {
        self.errors += 1;
        self.write(file, line, text, &error.to_string())?;
        match self.errors_max {
            0 => Err(error),
            most if self.errors > most => Err(Error::TooManyErrors {
                bad: self.errors,
                last: Box::new(error),
            }),
            _ => {
                if self.told.len() < TOLD_MAX {
                    self.told.push(error.to_string());
                }
                Ok(())
            }
        }
    }

    /// Writes down a row that is left out.
    pub fn write(&mut self, file: &Path, line: u64, text: &[u8], error: &str) -> Result<(), Error> {
        let Some((path, out)) = &mut self.file else {
            return Ok(());
        };
        let mut reject =
            json!({ "file": file.display().to_string(), "line": line, "error": error });
        if !text.is_empty() {
            let text = String::from_utf8_lossy(text);
            reject["text"] = text.trim_end_matches(['\r', '\n']).into();
        }
        writeln!(out, "{reject}").map_err(|source| Error::Work {
            path: path.clone(),
            source,
        })
    }

    /// Rows that were bad.
    pub fn errors(&self) -> u64 {
        self.errors
    }

    /// What was wrong with the first of them.
    pub fn told(&self) -> &[String] {
        &self.told
    }

    pub(super) fn finish(&mut self) -> Result<(), Error> {
        match &mut self.file {
            Some((path, out)) => out.flush().map_err(|source| Error::Work {
                path: path.clone(),
                source,
            }),
            None => Ok(()),
        }
    }
}
