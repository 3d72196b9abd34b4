//! Reads rows, encodes them as records, and checks them.

use super::output::Failure;
use super::plan::Plan;
use super::{clash, mapping};
use crate::Error;
use crate::destination::Sample;
use crate::encode::{Encoder, Refusal};
use crate::job::Progress;
use crate::order::{Origin, Sorter};
use crate::row_writer::Choice;
use crate::rows::{Header, Inputs, Origins, Rejects, spilled};
use crate::schema::Checks;
use crate::source::Row;

/// Rows between two looks at the progress.
const ROWS_PER_LOOK: u64 = 1024;

/// The inputs, and what makes records of their rows.
pub(super) struct Reader<'a> {
    plan: &'a Plan<'a>,
    inputs: Inputs<'a>,
    origins: Origins,
    /// The first rows, which were read before.
    sample: std::vec::IntoIter<Row>,
    /// The version of the columns that the encoder is bound to.
    columns_version: (usize, usize),
    encoder: Encoder,
    checks: Option<Checks>,
    progress: &'a Progress,
    rows_read: u64,
}

impl<'a> Reader<'a> {
    /// A reader whose first rows were read already; those of them that were bad are counted.
    ///
    /// # Errors
    /// If a column of the input has no place in the table, or the job names a column that isn't there.
    pub(super) fn new(
        plan: &'a Plan<'a>,
        choice: Choice,
        inputs: Inputs<'a>,
        (sample, header): (Sample, Header),
        progress: &'a Progress,
        rejects: &Rejects,
    ) -> Result<Self, Error> {
        let mut encoder = mapping::encoder(&plan.write, &sample, &header, &choice)?;
        encoder.bind(&mapping::places(&plan.write, &header)?);
        Ok(Reader {
            plan,
            origins: inputs.origins(),
            columns_version: inputs.columns_version(),
            inputs,
            sample: sample.rows.into_iter(),
            encoder,
            checks: choice.checks,
            progress,
            rows_read: rejects.errors(),
        })
    }

    /// What is to be said about the inputs.
    pub(super) fn remarks(&self) -> Vec<String> {
        self.inputs.remarks().to_vec()
    }

    /// Rows read so far, bad ones included.
    pub(super) fn rows_read(&self) -> u64 {
        self.rows_read
    }

    /// Reads rows into a batch until it is full. Returns false at the end of the last input.
    ///
    /// # Errors
    /// The error of a bad row if the job doesn't allow it, [`Error::Stopped`], and errors of reading and spilling.
    pub(super) fn fill(
        &mut self,
        batch: &mut Sorter,
        rejects: &mut Rejects,
    ) -> Result<bool, Error> {
        while let Some(row) = self.sample.next() {
            // The sample is of the first input, which may be closed by now.
            self.push(&row, row.line(), batch, rejects)?;
            if self.plan.is_full(batch) {
                return Ok(true);
            }
        }
        let mut row = Row::default();
        while self.inputs.is_open()? {
            match self.inputs.read(&mut row) {
                Ok(true) => {
                    if self.inputs.columns_version() != self.columns_version {
                        self.bind()?;
                    }
                    self.push(&row, self.inputs.origin(&row), batch, rejects)?;
                    if self.plan.is_full(batch) {
                        return Ok(true);
                    }
                }
                Ok(false) => {}
                Err(error) => {
                    self.inputs.reject(rejects, error)?;
                    self.rows_read += 1;
                }
            }
        }
        self.progress.set_rows_read(self.rows_read);
        Ok(false)
    }

    /// Maps the fields to columns again: they change with the file, or with a row that has new names.
    #[cold]
    fn bind(&mut self) -> Result<(), Error> {
        self.columns_version = self.inputs.columns_version();
        let places = mapping::places(&self.plan.write, &self.inputs.header())?;
        self.encoder.bind(&places);
        Ok(())
    }

    /// Adds the record of a row to a batch, or rejects the row.
    #[inline]
    fn push(
        &mut self,
        row: &Row,
        origin: Origin,
        batch: &mut Sorter,
        rejects: &mut Rejects,
    ) -> Result<(), Error> {
        if self.rows_read.is_multiple_of(ROWS_PER_LOOK) {
            self.progress.set_rows_read(self.rows_read);
            self.progress.check()?;
        }
        self.rows_read += 1;
        let record = match self.encoder.encode(row) {
            Ok(record) => record,
            Err(refusal) => return refuse(&self.origins, refusal, origin, rejects),
        };
        if let Some(checks) = &self.checks
            && let Some(what) = checks.refusal(None, record).map_err(checking)?
        {
            self.encoder.take_back();
            return rejects.refused(&self.origins, origin, what);
        }
        batch.push(record, origin).map_err(spilled)
    }

    /// The error of a failed write. That of a duplicate gets the lines of both rows.
    ///
    /// Rows that are written are kept nowhere, so the inputs are read again. An input that can't be, or the other row
    /// not being one of the inputs', leaves the error as it is.
    #[cold]
    pub(super) fn explain(&mut self, failure: Failure) -> Error {
        let Failure { error, clash } = failure;
        let Some(clash) = clash else {
            return error;
        };
        let other = clash::other_row(&self.plan.write, &mut self.encoder, &clash);
        match (error, other) {
            (Error::Duplicate { table, .. }, Some(other)) => Error::Duplicate {
                first: self.origins.words(other.min(clash.origin)),
                second: self.origins.words(other.max(clash.origin)),
                table,
            },
            (error, _) => error,
        }
    }
}

#[cold]
fn refuse(
    origins: &Origins,
    refusal: Refusal,
    origin: Origin,
    rejects: &mut Rejects,
) -> Result<(), Error> {
    let (path, line) = origins.file_and_line(origin);
    let error = Error::Malformed {
        path: path.clone(),
        line,
        at: format!(", column `{}`", refusal.column),
        what: refusal.what,
        remedy: refusal.remedy,
    };
    rejects.bad(&path, line, b"", error)
}

/// SQLite can't evaluate a constraint.
fn checking(source: rusqlite::Error) -> Error {
    Error::Database {
        path: "the copy of the table that rows are checked in".into(),
        source,
    }
}
