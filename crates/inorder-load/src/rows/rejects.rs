//! Rows that are not loaded: counted, and written to a file if the job names one.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::origins::Origins;
use crate::Error;
use crate::job::Job;
use crate::order::Origin;

/// Messages kept for the summary.
const TOLD_MAX: usize = 10;

/// Bad rows and duplicates.
pub struct Rejects {
    file: Option<(PathBuf, BufWriter<File>)>,
    errors_max: u64,
    errors: u64,
    told: Vec<String>,
}

impl Rejects {
    /// Creates the job's file of rejects, or empties it: one JSON object per line with `file`, `line`, `error` and, if
    /// known, the row's `text`. Only its owner may read a new file, because it contains rows.
    ///
    /// # Errors
    /// [`Error::Refused`] if the file is an input or the database, [`Error::Work`] if it can't be written.
    pub(crate) fn create(job: &Job) -> Result<Self, Error> {
        check_path(job)?;
        let path = job.rejects.as_deref();
        let file = path.map(|path| match create_private(path) {
            Ok(file) => Ok((path.to_owned(), BufWriter::new(file))),
            Err(source) => Err(Error::Work {
                path: path.to_owned(),
                source,
            }),
        });
        Ok(Rejects {
            file: file.transpose()?,
            errors_max: job.errors_max,
            errors: 0,
            told: Vec::new(),
        })
    }

    /// Rejects a row that the database, or what stands for it, doesn't accept.
    ///
    /// # Errors
    /// Those of [`Rejects::bad`].
    #[cold]
    pub(crate) fn refused(
        &mut self,
        origins: &Origins,
        origin: Origin,
        what: String,
    ) -> Result<(), Error> {
        let (file, line) = origins.file_and_line(origin);
        let at = origins.words(origin);
        self.bad(&file, line, b"", Error::Row { at, what })
    }

    /// Rejects a row that can't be read.
    ///
    /// # Errors
    /// Those of [`Rejects::bad`], and any error that ends the input.
    pub(super) fn unreadable(
        &mut self,
        path: &Path,
        text: &[u8],
        error: Error,
    ) -> Result<(), Error> {
        match error {
            Error::Malformed { line, .. } => self.bad(path, line, text, error),
            fatal => Err(fatal),
        }
    }

    /// Records a bad row.
    ///
    /// # Errors
    /// The row's own error if the job allows none, [`Error::TooManyErrors`] if it allows fewer, [`Error::Work`].
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

    /// The error of the first rejected row.
    pub fn told(&self) -> &[String] {
        &self.told
    }

    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        match &mut self.file {
            Some((path, out)) => out.flush().map_err(|source| Error::Work {
                path: path.clone(),
                source,
            }),
            None => Ok(()),
        }
    }
}

/// Truncates or creates a file. Only the owner can read a new one.
fn create_private(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)
}

/// Checks that the file of rejects, which is overwritten, is neither an input nor the database.
fn check_path(job: &Job) -> Result<(), Error> {
    let file = |path: &Path| path.canonicalize().ok();
    let Some(rejects) = job.rejects.as_deref().and_then(file) else {
        return Ok(());
    };
    let inputs = job.inputs.iter().map(|input| &*input.path);
    let mut others = inputs.chain([Path::new(&job.to)]);
    match others.find(|other| file(other).is_some_and(|other| other == rejects)) {
        None => Ok(()),
        Some(other) => Err(Error::Refused {
            what: format!(
                "--rejects: {} is an input or the database; name another file",
                other.display()
            ),
        }),
    }
}
