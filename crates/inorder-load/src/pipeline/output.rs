//! Hands sorted batches to the writer of a sink.

use std::time::Instant;

use super::model;
use super::plan::Plan;
use crate::Error;
use crate::job::{Progress, Seconds, Summary};
use crate::note::{Note, NoteKind};
use crate::order::{Memory, Sorted};
use crate::row_writer::{Choice, Proof, RowWriter, Sink};
use crate::rows::{Batch, Clash, Context, Origins, Rejects};

/// The writer of batches and the results so far.
pub(super) struct Output<'a> {
    plan: &'a Plan<'a>,
    /// Until the first batch is written.
    sink: Option<Box<dyn Sink>>,
    /// From then on.
    writer: Option<Box<dyn RowWriter>>,
    origins: Origins,
    progress: &'a Progress,
    /// Bytes of all records.
    record_bytes: u64,
    summary: Summary,
}

/// Why a batch can't be written.
pub(super) struct Failure {
    pub(super) error: Error,
    /// The row that was refused for its key, if the row that has the key is to be found.
    pub(super) clash: Option<Box<Clash>>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure { error, clash: None }
    }
}

impl<'a> Output<'a> {
    pub(super) fn new(
        plan: &'a Plan<'a>,
        sink: Box<dyn Sink>,
        origins: Origins,
        progress: &'a Progress,
        choice: &Choice,
    ) -> Self {
        Output {
            plan,
            summary: plan.summary(&*sink, choice),
            sink: Some(sink),
            writer: None,
            origins,
            progress,
            record_bytes: 0,
        }
    }

    /// Whether a transaction has begun.
    pub(super) fn has_begun(&self) -> bool {
        self.writer.is_some()
    }

    /// The times so far.
    pub(super) fn seconds(&mut self) -> &mut Seconds {
        &mut self.summary.seconds
    }

    /// Writes a batch, unless the job is a dry run. The first one begins the transaction. Returns the batch's memory, if it can be
    /// used again.
    ///
    /// # Errors
    /// If a row is refused, duplicates are an error, the load is stopped, or the database can't be written.
    pub(super) fn write(
        &mut self,
        sorted: Sorted,
        rejects: &mut Rejects,
    ) -> Result<Option<Memory>, Failure> {
        let began = Instant::now();
        self.summary.bytes_spilled += sorted.spilled_bytes();
        self.record_bytes += sorted.bytes();
        let write = &self.plan.write;
        if write.job.is_dry {
            self.summary.rows_written += sorted.rows();
            return Ok(sorted.into_memory());
        }
        let context = Context {
            on_duplicate: write.job.on_duplicate,
            origins: &self.origins,
            table: &write.destination.table,
            progress: self.progress,
            written: self.summary.rows_written,
        };
        let mut batch = Batch::new(sorted, self.plan.unique_order(), rejects, &context);
        if let Some(sink) = self.sink.take() {
            self.writer = Some(sink.writer(write, self.progress)?);
        }
        let writer = self.writer.as_mut().expect("the first batch began it");
        match writer.write(&mut batch) {
            Ok(rows) => self.summary.rows_written += rows,
            Err(error) => {
                let clash = batch.into_clash().map(Box::new);
                return Err(Failure { error, clash });
            }
        }
        self.summary.rows_duplicate += batch.duplicates();
        self.summary.rows_ignored += batch.ignored();
        self.summary.seconds.write += began.elapsed().as_secs_f64();
        Ok(batch.into_memory())
    }

    /// Commits, if the proof has no objection. Returns the summary.
    ///
    /// # Errors
    /// If the proof or the commit fails.
    pub(super) fn finish(mut self, proof: Option<Proof<'_>>) -> Result<Summary, Error> {
        let began = Instant::now();
        let mut summary = self.summary;
        if let Some(writer) = self.writer.take() {
            summary.writer = writer.name().to_owned();
            writer.finish(&mut summary, proof)?;
        }
        summary.seconds.write += began.elapsed().as_secs_f64();
        let page_bytes = self.plan.write.destination.page_bytes;
        if let Some(page_bytes) = page_bytes.filter(|_| !summary.sorted_by.is_empty()) {
            let leaves = self.record_bytes / page_bytes;
            let note = model::small_batches(self.plan.batch_rows(), leaves);
            let note = note.map(|text| Note::new(NoteKind::Writing, text));
            summary.notes.extend(note);
            let rows = summary.rows_written;
            summary.bytes_naive = Some(model::naive_bytes(rows, self.record_bytes, page_bytes));
        }
        Ok(summary)
    }
}
