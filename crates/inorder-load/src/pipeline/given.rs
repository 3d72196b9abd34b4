//! Loads rows that the caller gives one by one.

use std::error::Error as StdError;

use rusqlite::Connection;

use super::mapping;
use super::output::Output;
use super::plan::Plan;
use super::usage::Usage;
use crate::Error;
use crate::destination::{Sample, Typing};
use crate::encode::{Encoder, Refusal};
use crate::job::{Job, OnDuplicate, Phase, Progress, RowOrder, Summary};
use crate::order::{Origin, Sorter};
use crate::rows::{Header, Origins, Rejects, spilled};
use crate::sink;
use crate::source::{GivenRow, Row};

/// An error of the caller.
type Cause = Box<dyn StdError + Send + Sync>;

/// Rows between two looks at the progress.
const ROWS_PER_LOOK: u64 = 1024;

/// The rows of a load, and the caller's consent to what was written.
pub trait GivenRows {
    /// Fills the next row. Returns false if there is none.
    ///
    /// # Errors
    /// Any error ends the load, which then changes nothing.
    fn next(&mut self, row: &mut GivenRow<'_>) -> Result<bool, Cause>;

    /// Looks at the rows in the transaction that wrote them, when the table and its indexes are complete. What it writes
    /// to the database is committed together with them.
    ///
    /// # Errors
    /// Any error ends the load, which then changes nothing.
    fn prove(&mut self, database: &Connection) -> Result<(), Cause>;
}

/// Creates a table in a SQLite database and loads rows of the caller into it, in one transaction.
///
/// `create` has the statements that create the table of the job and its indexes. Foreign keys are not checked. Of the job,
/// only the database, the table, the limits and the writer are used. Messages number the rows from 1.
///
/// # Errors
/// If the table can't be created, a row doesn't fit it or has the key of another, the caller's rows or its proof end with an
/// error ([`Error::Caller`]), or something can't be written. The database is then as it was before.
pub fn run_rows(
    job: &Job,
    create: &str,
    rows: &mut dyn GivenRows,
    progress: &Progress,
) -> Result<Summary, Error> {
    let job = &Job {
        inputs: Vec::new(),
        create: None,
        order: RowOrder::Full,
        on_duplicate: OnDuplicate::Error,
        rejects: None,
        errors_max: 0,
        is_dry: false,
        ..job.clone()
    };
    let before = Usage::now();
    let sink = sink::open_created(job, create)?;
    let columns = sink.destination().columns.iter();
    let header = Header {
        columns: columns.map(|column| column.name.clone()).zip(0..).collect(),
        is_by_place: true,
        is_complete: true,
        typing: Typing {
            is_typed: true,
            has_decimals: true,
        },
        ..Header::default()
    };
    let sample = Sample::default();
    let (mut plan, choice) = Plan::new(job, &*sink, &sample, &header)?;
    plan.write.checks_parents = false;
    plan.write.is_proven = true;
    let mut encoder = mapping::encoder(&plan.write, &sample, &header, &choice)?;
    encoder.bind(mapping::sources(&plan.write, &header)?);
    let mut reader = Reader {
        rows,
        encoder,
        row: Row::default(),
        count: 0,
        progress,
    };
    let mut rejects = Rejects::create(job)?;
    let mut output = Output::new(&plan, sink, Origins::new(&[]), progress, &choice);
    let (mut has_more, mut memory) = (true, None);
    while has_more {
        let mut batch = plan.sorter(memory.take());
        progress.enter(Phase::Read);
        has_more = reader.fill(&mut batch, |batch| plan.is_full(batch))?;
        progress.enter(Phase::Sort);
        let sorted = batch.finish().map_err(spilled)?;
        progress.enter(Phase::Write);
        let written = output.write(sorted, &mut rejects);
        memory = written.map_err(|failure| failure.error)?;
    }
    progress.enter(Phase::Finish);
    let mut prove = |database: &Connection| reader.rows.prove(database).map_err(Error::Caller);
    let mut summary = output.finish(Some(&mut prove))?;
    summary.rows_read = reader.count;
    before.add_to(&mut summary);
    Ok(summary)
}

/// Encodes the caller's rows.
struct Reader<'a> {
    rows: &'a mut dyn GivenRows,
    encoder: Encoder,
    row: Row,
    count: u64,
    progress: &'a Progress,
}

impl Reader<'_> {
    /// Adds rows to a batch until it is full. Returns false if there are no more.
    fn fill(
        &mut self,
        batch: &mut Sorter,
        is_full: impl Fn(&Sorter) -> bool,
    ) -> Result<bool, Error> {
        while !is_full(batch) {
            if self.count.is_multiple_of(ROWS_PER_LOOK) {
                self.progress.set_rows_read(self.count);
                self.progress.check()?;
            }
            let origin: Origin = self.count + 1;
            let mut row = GivenRow::begin(&mut self.row, origin);
            if !self.rows.next(&mut row).map_err(Error::Caller)? {
                return Ok(false);
            }
            row.end().map_err(|what| Error::Row {
                at: format!("row {origin}"),
                what,
            })?;
            self.count = origin;
            let record = self.encoder.encode(&self.row);
            let record = record.map_err(|refusal| refused(refusal, origin))?;
            batch.push(record, origin).map_err(spilled)?;
        }
        Ok(true)
    }
}

#[cold]
fn refused(refusal: Refusal, origin: Origin) -> Error {
    Error::Row {
        at: format!("row {origin}, column `{}`", refusal.column),
        what: refusal.what,
    }
}
