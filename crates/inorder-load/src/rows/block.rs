//! Rows of the inputs that are handed over together.

use std::path::PathBuf;

use super::inputs::{Header, Inputs};
use super::rejects::Rejects;
use crate::Error;
use crate::order::Origin;
use crate::source::Row;

/// Rows that are handed over together, and the bytes from which they are.
const ROWS_MAX: usize = 1024;
const BYTES_MAX: usize = 1 << 17;

/// Rows one after another, and what comes after them. Its memory is used again.
#[derive(Default)]
pub(crate) struct Block {
    rows: Vec<Row>,
    /// The origin of each row that is in use.
    origins: Vec<Origin>,
    /// The columns from a row on.
    headers: Vec<(usize, Header)>,
    after: After,
    /// What is to be said about the inputs, in the last block.
    remarks: Vec<String>,
}

/// What may follow a block.
pub(crate) enum Next {
    /// Further rows.
    Rows,
    /// Further rows, after one that was rejected.
    Rejected,
    /// Nothing.
    Nothing,
}

/// What comes after the rows of a block.
#[derive(Default)]
enum After {
    /// Further rows.
    #[default]
    Rows,
    /// A malformed row.
    Bad(Box<Bad>),
    /// An error that ends the load.
    Failed(Box<Error>),
    /// Nothing.
    End,
}

/// A malformed row: its error, its file and its text.
struct Bad {
    error: Error,
    path: PathBuf,
    text: Vec<u8>,
}

impl Block {
    /// The rows.
    pub(crate) fn len(&self) -> usize {
        self.origins.len()
    }

    /// A row and its origin.
    #[inline]
    pub(crate) fn row(&self, at: usize) -> (&Row, Origin) {
        (&self.rows[at], self.origins[at])
    }

    /// The columns of the rows from this one on, if they differ from those before.
    #[inline]
    pub(crate) fn header(&self, at: usize) -> Option<&Header> {
        let headers = self.headers.iter();
        let mut found = headers.filter(|(from, _)| *from == at);
        found.next().map(|(_, header)| header)
    }

    /// Ends the block: rejects the row that can't be read, if there is one. Returns whether further rows may follow.
    ///
    /// # Errors
    /// Those of [`Rejects::bad`], and any error that ends the input.
    pub(crate) fn end(&mut self, rejects: &mut Rejects) -> Result<Next, Error> {
        match std::mem::take(&mut self.after) {
            After::Rows => Ok(Next::Rows),
            After::Bad(bad) => {
                let Bad { error, path, text } = *bad;
                rejects.unreadable(&path, &text, error)?;
                Ok(Next::Rejected)
            }
            After::Failed(error) => Err(*error),
            After::End => {
                self.after = After::End;
                Ok(Next::Nothing)
            }
        }
    }

    /// What is to be said about the inputs, if this is the last block.
    pub(crate) fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Whether nothing follows.
    pub(super) fn is_last(&self) -> bool {
        matches!(self.after, After::Failed(_) | After::End)
    }

    /// Reads rows of the inputs until there are enough, one can't be read or there are none.
    pub(super) fn fill(&mut self, inputs: &mut Inputs<'_>, columns_version: &mut (usize, usize)) {
        self.origins.clear();
        self.headers.clear();
        self.after = After::Rows;
        let mut bytes = 0;
        while self.len() < ROWS_MAX && bytes < BYTES_MAX {
            match self.read(inputs, columns_version) {
                Ok(row_bytes) => bytes += row_bytes,
                Err(after) => {
                    if let After::End = after {
                        self.remarks = inputs.remarks().to_vec();
                    }
                    self.after = after;
                    return;
                }
            }
        }
    }

    /// Reads a row. Returns its bytes, or what is there instead.
    #[inline]
    fn read(
        &mut self,
        inputs: &mut Inputs<'_>,
        columns_version: &mut (usize, usize),
    ) -> Result<usize, After> {
        let at = self.len();
        if at == self.rows.len() {
            self.rows.push(Row::default());
        }
        let row = &mut self.rows[at];
        loop {
            match inputs.is_open() {
                Ok(true) => {}
                Ok(false) => return Err(After::End),
                Err(error) => return Err(After::Failed(Box::new(error))),
            }
            match inputs.read(row) {
                Ok(true) => break,
                Ok(false) => {}
                Err(error) => return Err(wrong(inputs, error)),
            }
        }
        if inputs.columns_version() != *columns_version {
            *columns_version = inputs.columns_version();
            self.headers.push((at, inputs.header()));
        }
        self.origins.push(inputs.origin(row));
        Ok(row.bytes_len())
    }
}

/// What comes next where the last row can't be read.
#[cold]
fn wrong(inputs: &Inputs<'_>, error: Error) -> After {
    match error {
        Error::Malformed { .. } => After::Bad(Box::new(Bad {
            error,
            path: inputs.path().to_owned(),
            text: inputs.last().to_owned(),
        })),
        fatal => After::Failed(Box::new(fatal)),
    }
}
