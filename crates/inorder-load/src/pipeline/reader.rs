//! Reads rows, encodes them as records, and checks them.

use super::output::Failure;
use super::plan::Plan;
use super::{clash, mapping};
use crate::Error;
use crate::destination::Sample;
use crate::encode::{Encoder, REMEDY_FOR_GUESS, Refusal};
use crate::job::Progress;
use crate::order::{Origin, Sorter};
use crate::row_writer::Choice;
use crate::rows::{Block, Header, Incoming, Next, Origins, Rejects, spilled};
use crate::schema::Checks;
use crate::source::Row;

/// Rows between two looks at the progress.
const ROWS_PER_LOOK: u64 = 1024;

/// The inputs, and what makes records of their rows.
pub(super) struct Reader<'a, 'scope> {
    plan: &'a Plan<'a>,
    incoming: Incoming<'a, 'scope>,
    origins: Origins,
    /// The first rows, which were read before.
    sample: std::vec::IntoIter<Row>,
    /// The rows after them, and how many of these were encoded.
    block: Block,
    encoded: usize,
    encoder: Encoder,
    checks: Option<Checks>,
    progress: &'a Progress,
    rows_read: u64,
}

impl<'a, 'scope> Reader<'a, 'scope> {
    /// A reader whose first rows were read already; those of them that were bad are counted.
    ///
    /// # Errors
    /// If a column of the input has no place in the table, or the job names a column that isn't there.
    pub(super) fn new(
        plan: &'a Plan<'a>,
        choice: Choice,
        (incoming, origins): (Incoming<'a, 'scope>, Origins),
        (sample, header): (Sample, Header),
        progress: &'a Progress,
        rejects: &Rejects,
    ) -> Result<Self, Error> {
        let mut encoder = mapping::encoder(&plan.write, &sample, &header, &choice)?;
        encoder.bind(&mapping::places(&plan.write, &header)?);
        Ok(Reader {
            plan,
            incoming,
            origins,
            sample: sample.rows.into_iter(),
            block: Block::default(),
            encoded: 0,
            encoder,
            checks: choice.checks,
            progress,
            rows_read: rejects.errors(),
        })
    }

    /// The progress of the load.
    pub(super) fn progress(&self) -> &'a Progress {
        self.progress
    }

    /// What is to be said about the inputs, once they are read.
    pub(super) fn remarks(&self) -> Vec<String> {
        let mut remarks = self.block.remarks().to_vec();
        remarks.extend(self.encoder.remarks());
        remarks
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
        // Lent out while its rows are encoded.
        let mut block = std::mem::take(&mut self.block);
        let filled = self.fill_from(&mut block, batch, rejects);
        self.block = block;
        self.progress.set_rows_read(self.rows_read);
        filled
    }

    /// Encodes rows of this block and those after it until the batch is full. Returns false after the last row.
    fn fill_from(
        &mut self,
        block: &mut Block,
        batch: &mut Sorter,
        rejects: &mut Rejects,
    ) -> Result<bool, Error> {
        loop {
            while self.encoded < block.len() {
                if let Some(header) = block.header(self.encoded) {
                    self.bind(header)?;
                }
                let (row, origin) = block.row(self.encoded);
                self.encoded += 1;
                self.push(row, origin, batch, rejects)?;
                if self.plan.is_full(batch) {
                    return Ok(true);
                }
            }
            match block.end(rejects)? {
                Next::Rows => {}
                Next::Rejected => self.rows_read += 1,
                Next::Nothing => return Ok(false),
            }
            self.encoded = 0;
            self.incoming.next(block, self.progress)?;
        }
    }

    /// Maps the fields to columns again: they change with the file, or with a row that has new names.
    #[cold]
    fn bind(&mut self, header: &Header) -> Result<(), Error> {
        self.encoder
            .bind(&mapping::places(&self.plan.write, header)?);
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
    if refusal.remedy == REMEDY_FOR_GUESS {
        return Err(Error::Guess {
            path,
            line,
            column: refusal.column,
            what: refusal.what,
            remedy: refusal.remedy,
        });
    }
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
