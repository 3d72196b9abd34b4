//! Reads rows, encodes them as records, and checks them.

use super::clash;
use super::lane::{Lane, ROWS_PER_LOOK, Together, Wrong};
use super::output::Failure;
use super::plan::Plan;
use crate::Error;
use crate::destination::Sample;
use crate::encode::{REMEDY_FOR_GUESS, Refusal};
use crate::job::Progress;
use crate::note::Note;
use crate::order::{Origin, Sorter};
use crate::row_writer::Choice;
use crate::rows::{Block, Blocks, Header, Inputs, Next, Origins, Rejects, spilled};
use crate::schema::Checks;
use crate::source::Row;

/// The inputs, and what makes records of their rows.
pub(super) struct Reader<'a> {
    plan: &'a Plan<'a>,
    blocks: Blocks<'a>,
    origins: Origins,
    /// The first rows, which were read before.
    sample: std::vec::IntoIter<Row>,
    lane: Lane,
    /// Those of the other threads.
    further: Vec<Lane>,
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
        let lane = || Lane::new(&plan.write, &sample, &header, &choice);
        let first = lane()?;
        let is_apart = inputs.has_more()
            && plan.takes_portions()
            && choice.checks.is_none()
            && first.encoder.is_independent();
        let further = match is_apart {
            true => (1..plan.write.job.threads).map(|_| lane()).collect(),
            false => Ok(Vec::new()),
        };
        Ok(Reader {
            plan,
            origins: inputs.origins(),
            further: further?,
            lane: first,
            blocks: Blocks::new(inputs, header),
            sample: sample.rows.into_iter(),
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
    pub(super) fn remarks(&self) -> Vec<Note> {
        let mut remarks = self.blocks.remarks();
        remarks.extend(self.lane.encoder.remarks());
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
        let filled = match self.further.is_empty() {
            true => {
                // Lent out while its rows are encoded.
                let mut block = std::mem::take(&mut self.lane.block);
                let filled = self.fill_from(&mut block, batch, rejects);
                self.lane.block = block;
                filled
            }
            false => self.fill_apart(batch, rejects),
        };
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
            self.lane.bind(block, &self.plan.write)?;
            while let Some((row, origin)) = block.next() {
                self.push(row, origin, batch, rejects)?;
                if self.plan.is_full(batch) {
                    return Ok(true);
                }
                self.lane.bind(block, &self.plan.write)?;
            }
            match block.end(rejects)? {
                Next::Rows => {}
                Next::Rejected => self.rows_read += 1,
                Next::Nothing => return Ok(false),
            }
            self.blocks.take(block, None);
        }
    }

    /// Encodes rows in several threads until the batch is full. Returns false after the last row.
    fn fill_apart(&mut self, batch: &mut Sorter, rejects: &mut Rejects) -> Result<bool, Error> {
        while !self.blocks.have_ended() {
            let lanes = std::iter::once(&mut self.lane).chain(&mut self.further);
            let together = Together::new(&mut self.blocks, batch, self.plan, self.progress);
            let rows = together
                .run(lanes, self.rows_read)
                .map_err(|wrong| match wrong {
                    Wrong::Refused(refusal, origin) => {
                        let refused = refuse(&self.origins, refusal, origin, rejects);
                        refused.expect_err("a job that allows bad rows reads in one thread")
                    }
                    Wrong::Unreadable(mut block) => {
                        let ended = block.end(rejects).map(drop);
                        ended.expect_err("a job that allows bad rows reads in one thread")
                    }
                    Wrong::Failed(error) => error,
                })?;
            self.rows_read = rows;
            if self.plan.is_full(batch) {
                break;
            }
            batch.spill_if_over().map_err(spilled)?;
        }
        for lane in &mut self.further {
            self.lane.encoder.take_remarks(&mut lane.encoder);
        }
        Ok(!self.blocks.have_ended())
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
        let encoder = &mut self.lane.encoder;
        let Some(checks) = &self.checks else {
            let bytes_max = encoder.bytes_max(row);
            return match batch.push_with(bytes_max, origin, |out| encoder.encode_to(row, out)) {
                Ok(pushed) => pushed.map_err(spilled),
                Err(refusal) => refuse(&self.origins, refusal, origin, rejects),
            };
        };
        let record = match encoder.encode(row) {
            Ok(record) => record,
            Err(refusal) => return refuse(&self.origins, refusal, origin, rejects),
        };
        if let Some(what) = checks.refusal(None, record).map_err(checking)? {
            encoder.take_back();
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
        let other = clash::other_row(&self.plan.write, &mut self.lane.encoder, &clash);
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
