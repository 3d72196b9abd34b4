//! A load from its first row to its last.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::batch::{Batch, Clash, Context, spilled};
use super::clash;
use super::inputs::{Header, Inputs, Origins};
use super::job::{Job, Order};
use super::naive;
use super::plan::Plan;
use super::progress::{Phase, Progress};
use super::rejects::Rejects;
use super::summary::{Summary, usage};
use crate::Error;
use crate::destination::{Destination, Sample};
use crate::encode::{Encoder, Refusal, Rowids};
use crate::order::{Limits, Origin, Sorter};
use crate::pages::{Checks, space};
use crate::source::{Row, STDIN};
use crate::target::{self, Choice, RowWriter, Target, Wanted, WritePlan};

/// Rows that types are guessed from.
const SAMPLE_ROWS: usize = 10_000;

/// Bytes of them at most.
const SAMPLE_BYTES: usize = 1 << 24;

/// Rows between two looks at whether somebody wants it to stop.
const ROWS_A_LOOK: u64 = 1024;

/// The memory of rows that are not sorted.
const UNSORTED_BYTES: usize = 1 << 24;

/// Loads.
///
/// # Errors
/// Where the input, the table or a row is wrong, or something can't be read or written. The database is then
/// as it was.
pub fn run(job: &Job, progress: &Progress) -> Result<Summary, Error> {
    run_into(job, progress, target::open)
}

/// Loads into a target of the caller's, such as a table of a server.
///
/// # Errors
/// As [`run`].
pub fn run_into(
    job: &Job,
    progress: &Progress,
    open: impl FnOnce(&Wanted<'_>) -> Result<Box<dyn Target>, Error>,
) -> Result<Summary, Error> {
    let (cpu_before, io_before) = usage();
    progress.set_bytes_total(bytes_of(job));
    check_rejects(job)?;
    let mut rejects = Rejects::new(job.rejects.as_deref(), job.errors_max)?;
    let mut inputs = Inputs::new(
        &job.inputs,
        &job.settings,
        job.columns.as_deref(),
        progress.meter.clone(),
    );
    let started = Instant::now();
    let (sample, header) = take_sample(&mut inputs, &mut rejects)?;
    let target = open(&Wanted {
        to: &job.to,
        table: &job.table,
        create: job.create.as_ref(),
        sample: &sample,
    })?;
    let mut load = Load::plan(job, progress, target, &sample, &header)?;
    load.summary.rows_read = rejects.errors();
    load.summary.seconds.read += started.elapsed().as_secs_f64();
    load.rows(&mut inputs, sample, &header, &mut rejects)?;
    rejects.finish()?;
    let mut summary = load.finish(&rejects)?;
    let (cpu_after, io_after) = usage();
    summary.cpu_seconds = cpu_after - cpu_before;
    summary.bytes_read = progress.bytes_read();
    summary.bytes_written = io_after
        .zip(io_before)
        .map(|(after, before)| (after - before).saturating_sub(summary.bytes_spilled));
    Ok(summary)
}

/// Checks that the file of rejects, which is begun anew, is neither an input nor the database.
fn check_rejects(job: &Job) -> Result<(), Error> {
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
                "--rejects: {} is an input or the database, and would be overwritten; name another file",
                other.display()
            ),
        }),
    }
}

/// Bytes of all inputs; 0 where one of them is a pipe.
fn bytes_of(job: &Job) -> u64 {
    let bytes = |path: &PathBuf| match path.as_path() == Path::new(STDIN) {
        true => None,
        false => path.metadata().ok().map(|metadata| metadata.len()),
    };
    let all: Option<u64> = job.inputs.iter().map(|input| bytes(&input.path)).sum();
    all.unwrap_or(0)
}

/// The first rows of the first input, and its columns.
fn take_sample(inputs: &mut Inputs<'_>, rejects: &mut Rejects) -> Result<(Sample, Header), Error> {
    let mut sample = Sample::default();
    let mut header = Header::default();
    if inputs.is_open()? {
        header = inputs.header();
        let mut bytes = 0;
        while sample.rows.len() < SAMPLE_ROWS && bytes < SAMPLE_BYTES {
            let mut row = Row::default();
            match inputs.read(&mut row) {
                Ok(true) => {
                    bytes += row.bytes_len();
                    sample.rows.push(row);
                }
                Ok(false) => break,
                Err(error) => reject(inputs, rejects, error)?,
            }
            header = inputs.header();
        }
    }
    sample.names = header.columns.clone();
    sample.is_typed = header.is_typed;
    Ok((sample, header))
}

/// Puts up with a row that breaks the rules of its format, as far as that is wanted.
fn reject(inputs: &Inputs<'_>, rejects: &mut Rejects, error: Error) -> Result<(), Error> {
    match error {
        Error::Malformed { line, .. } => rejects.bad(inputs.path(), line, inputs.last(), error),
        fatal => Err(fatal),
    }
}

/// A load under way.
struct Load<'a> {
    job: &'a Job,
    progress: &'a Progress,
    origins: Origins,
    /// What will write; taken when the first row is to be written.
    target: Option<Box<dyn Target>>,
    destination: Destination,
    is_direct: bool,
    /// Whether the writer counts rows that others replaced.
    counts_replaced: bool,
    rowids: Option<Rowids>,
    checks: Option<Checks>,
    plan: Plan,
    encoder: Encoder,
    sorter: Sorter,
    limits: Limits,
    batch_rows: u64,
    /// Bytes of all records written.
    record_bytes: u64,
    writer: Option<Box<dyn RowWriter>>,
    summary: Summary,
}

impl<'a> Load<'a> {
    fn plan(
        job: &'a Job,
        progress: &'a Progress,
        target: Box<dyn Target>,
        sample: &Sample,
        header: &Header,
    ) -> Result<Self, Error> {
        let destination = target.destination().clone();
        let given = given(&destination, job, sample, header)?;
        let mut choice = target.choose(&given, job)?;
        let record = match choice.is_direct {
            true => destination.physical.clone(),
            false => given,
        };
        let is_in_input_order = choice.why_in_input_order.is_some();
        let plan = Plan::new(&destination, record, job.skips_unknown, is_in_input_order);
        let mut encoder = plan.encoder(&destination, sample, header, job, &choice)?;
        let is_sorted = is_sorted(job, &plan);
        let rowid = plan
            .record
            .iter()
            .position(|column| destination.rowid == Some(*column));
        // Rows that are written as they come are counted by the database.
        choice.rowids = choice.rowids.filter(|_| is_sorted && rowid.is_some());
        if let (Some(place), Some(rowids)) = (rowid, choice.rowids) {
            encoder.count_rowids(place, rowids);
        }
        let is_settled = is_sorted && job.order == Order::Full;
        let limits = Limits {
            memory_bytes: job.memory_bytes / (1 + choice.sorts_beside),
            spill_folder: match &job.spill_folder {
                Some(folder) => folder.clone(),
                None => target.spill_folder(),
            },
        };
        let summary = begun(&*target, &destination, &mut choice, is_sorted, job);
        Ok(Load {
            counts_replaced: choice.may_replace && !is_settled,
            rowids: choice.rowids,
            checks: choice.checks,
            sorter: new_sorter(job, &plan, &limits),
            origins: Origins::new(&job.inputs),
            target: Some(target),
            is_direct: choice.is_direct,
            batch_rows: match job.order {
                Order::Batch { rows, .. } => rows,
                _ => u64::MAX,
            },
            record_bytes: 0,
            writer: None,
            job,
            progress,
            destination,
            plan,
            encoder,
            limits,
            summary,
        })
    }

    /// Whether rows are sorted, and not only kept.
    fn is_sorted(&self) -> bool {
        is_sorted(self.job, &self.plan)
    }

    /// Takes all rows.
    fn rows(
        &mut self,
        inputs: &mut Inputs<'_>,
        sample: Sample,
        header: &Header,
        rejects: &mut Rejects,
    ) -> Result<(), Error> {
        let mut read = Instant::now();
        self.check_spill_folder()?;
        self.encoder
            .bind(&self.plan.places(&self.destination, header)?);
        let mut version = inputs.columns_version();
        for row in &sample.rows {
            // They are of the first input, which may be closed by now.
            self.row(row, row.line(), rejects, &mut read)?;
        }
        drop(sample);
        let mut row = Row::default();
        while inputs.is_open()? {
            match inputs.read(&mut row) {
                Ok(true) => {
                    if inputs.columns_version() != version {
                        version = inputs.columns_version();
                        let places = self.plan.places(&self.destination, &inputs.header())?;
                        self.encoder.bind(&places);
                    }
                    self.row(&row, inputs.origin(&row), rejects, &mut read)?;
                }
                Ok(false) => {}
                Err(error) => {
                    reject(inputs, rejects, error)?;
                    self.summary.rows_read += 1;
                }
            }
        }
        self.progress.set_rows_read(self.summary.rows_read);
        self.summary.seconds.read += read.elapsed().as_secs_f64();
        if self.sorter.rows() > 0 || self.writer.is_none() {
            self.write(rejects)?;
        }
        Ok(())
    }

    /// What exceeds the memory is foreseen to take what the input takes.
    fn check_spill_folder(&self) -> Result<(), Error> {
        let bytes = self.progress.bytes_total();
        let is_spilled = self.is_sorted() && bytes > self.limits.memory_bytes as u64;
        match is_spilled {
            true => space::check_spill(&self.limits.spill_folder, bytes),
            false => Ok(()),
        }
    }

    #[inline]
    fn row(
        &mut self,
        row: &Row,
        origin: Origin,
        rejects: &mut Rejects,
        read: &mut Instant,
    ) -> Result<(), Error> {
        if self.summary.rows_read.is_multiple_of(ROWS_A_LOOK) {
            self.progress.set_rows_read(self.summary.rows_read);
            if self.progress.is_stopped() {
                return Err(Error::Stopped);
            }
        }
        self.summary.rows_read += 1;
        let record = match self.encoder.encode(row) {
            Ok(record) => record,
            Err(refusal) => return self.refuse(refusal, origin, rejects),
        };
        if let Some(checks) = &self.checks
            && let Some(what) = checks.refusal(None, record).map_err(checking)?
        {
            self.encoder.take_back();
            let (path, line) = self.origins.file_and_line(origin);
            let at = self.origins.words(origin);
            return rejects.bad(&path, line, b"", Error::Row { at, what });
        }
        self.sorter.push(record, origin).map_err(spilled)?;
        let is_full = self.sorter.rows() >= self.batch_rows
            || (!self.is_sorted() && self.sorter.memory_bytes() >= UNSORTED_BYTES / 2);
        if is_full {
            self.summary.seconds.read += read.elapsed().as_secs_f64();
            self.write(rejects)?;
            self.progress.enter(Phase::Read);
            *read = Instant::now();
        }
        Ok(())
    }

    #[cold]
    fn refuse(&self, refusal: Refusal, origin: Origin, rejects: &mut Rejects) -> Result<(), Error> {
        let (path, line) = self.origins.file_and_line(origin);
        let error = Error::Malformed {
            path: path.clone(),
            line,
            at: format!(", column `{}`", refusal.column),
            what: refusal.what,
            remedy: refusal.remedy,
        };
        rejects.bad(&path, line, b"", error)
    }

    /// Writes the rows that were taken since the last time.
    fn write(&mut self, rejects: &mut Rejects) -> Result<(), Error> {
        let next = new_sorter(self.job, &self.plan, &self.limits);
        let sorter = std::mem::replace(&mut self.sorter, next);
        self.progress.enter(Phase::Sort);
        let started = Instant::now();
        let sorted = sorter.finish().map_err(spilled)?;
        self.summary.seconds.sort += started.elapsed().as_secs_f64();
        self.summary.bytes_spilled += sorted.spilled_bytes();
        self.record_bytes += sorted.bytes();
        let started = Instant::now();
        self.progress.enter(Phase::Write);
        if self.job.is_dry {
            self.summary.rows_written += sorted.rows();
            return Ok(());
        }
        let is_unique =
            self.is_sorted() && !is_by_prefix(self.job) && self.destination.is_key_unique;
        let context = Context {
            on_duplicate: self.job.on_duplicate,
            origins: &self.origins,
            table: &self.destination.table,
            progress: self.progress,
            written: self.summary.rows_written,
        };
        let key = self.plan.order.as_ref().filter(|_| is_unique);
        let mut batch = Batch::new(sorted, key, rejects, &context);
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => {
                let target = self.target.take().expect("one writer is made of a target");
                none.insert(target.writer(&WritePlan {
                    job: self.job,
                    destination: &self.destination,
                    record: &self.plan.record,
                    is_direct: self.is_direct,
                    is_in_input_order: self.summary.why_not_sorted.is_some(),
                    counts_replaced: self.counts_replaced,
                    is_checked: self.checks.is_some(),
                    rowids: self.rowids,
                    limits: &self.limits,
                    progress: self.progress,
                })?)
            }
        };
        match writer.write(&mut batch) {
            Ok(rows) => self.summary.rows_written += rows,
            Err(error) => {
                let clash = batch.into_clash();
                return Err(match clash {
                    Some(clash) => self.with_first(error, &clash),
                    None => error,
                });
            }
        }
        self.summary.rows_duplicate += batch.duplicates();
        self.summary.rows_ignored += batch.ignored();
        self.summary.seconds.write += started.elapsed().as_secs_f64();
        Ok(())
    }

    /// The error of a duplicate with both lines: rows that are written are kept nowhere, so the input is read
    /// once more. Without the other line where that can't be, or where the other row isn't of the input.
    #[cold]
    fn with_first(&mut self, error: Error, clash: &Clash) -> Error {
        let first = clash::other(
            self.job,
            &self.destination,
            &self.plan,
            &mut self.encoder,
            clash,
        );
        match (error, first) {
            (Error::Duplicate { table, .. }, Some(other)) => Error::Duplicate {
                first: self.origins.words(other.min(clash.origin)),
                second: self.origins.words(other.max(clash.origin)),
                table,
            },
            (error, _) => error,
        }
    }

    /// Commits.
    fn finish(mut self, rejects: &Rejects) -> Result<Summary, Error> {
        let started = Instant::now();
        if let Some(writer) = self.writer {
            self.summary.writer = writer.name().to_owned();
            self.progress.enter(Phase::Finish);
            writer.finish(&mut self.summary)?;
        }
        self.summary.seconds.write += started.elapsed().as_secs_f64();
        if self.summary.sorted_by.is_empty() {
            return Ok(told(self.summary, rejects));
        }
        let note = self.destination.page_bytes.and_then(|page_bytes| {
            let leaves = self.record_bytes / page_bytes;
            small_batches(self.batch_rows, leaves)
        });
        self.summary.notes.extend(note);
        let rows = self.summary.rows_written;
        let naive = |page_bytes| naive::bytes(rows, self.record_bytes, page_bytes);
        self.summary.bytes_naive = self.destination.page_bytes.map(naive);
        Ok(told(self.summary, rejects))
    }
}

/// SQLite can't look at rows.
fn checking(source: rusqlite::Error) -> Error {
    Error::Database {
        path: "the copy of the table that rows are looked at in".into(),
        source,
    }
}

/// What is to be said of batches that are too small for a table of so many leaves: nearly every batch finds
/// every leaf, and has it written again.
fn small_batches(batch_rows: u64, leaves: u64) -> Option<String> {
    const ROWS_A_LEAF: u64 = 7;
    let is_small = batch_rows < leaves.saturating_mul(ROWS_A_LEAF) && leaves > 1;
    is_small.then(|| {
        format!(
            "batches of {batch_rows} rows have fewer than {ROWS_A_LEAF} for each of the table's {leaves} leaves, and \
             write nearly all of them each time: better --order full, or --batch-rows {} and more",
            leaves * ROWS_A_LEAF
        )
    })
}

/// The summary with what is to be said of bad rows.
fn told(mut summary: Summary, rejects: &Rejects) -> Summary {
    summary.rows_refused = rejects.errors();
    summary.refused_because = rejects.told().to_vec();
    summary
}

fn is_sorted(job: &Job, plan: &Plan) -> bool {
    job.order != Order::Input && plan.order.is_some()
}

/// Whether rows with the same key need not come one after another.
fn is_by_prefix(job: &Job) -> bool {
    let Order::Batch { is_by_prefix, .. } = job.order else {
        return false;
    };
    is_by_prefix
}

fn new_sorter(job: &Job, plan: &Plan, limits: &Limits) -> Sorter {
    match plan.order.clone().filter(|_| is_sorted(job, plan)) {
        Some(order) if is_by_prefix(job) => Sorter::by_prefix(order, limits.clone()),
        Some(order) => Sorter::new(Some(order), limits.clone()),
        None => Sorter::new(
            None,
            Limits {
                memory_bytes: limits.memory_bytes.min(UNSORTED_BYTES),
                ..limits.clone()
            },
        ),
    }
}

/// The columns that the input gives.
fn given(
    destination: &Destination,
    job: &Job,
    sample: &Sample,
    header: &Header,
) -> Result<Vec<usize>, Error> {
    let given = Plan::given(destination, job.create.as_ref(), header);
    // Without rows nothing is said of columns, and nothing is loaded.
    let is_empty = sample.rows.is_empty() && !header.is_complete;
    match given.is_empty() {
        false => Ok(given),
        true if is_empty => Ok(destination.physical.clone()),
        true => Err(no_columns(header, destination)),
    }
}

/// The summary of a load that begins.
fn begun(
    target: &dyn Target,
    destination: &Destination,
    choice: &mut Choice,
    is_sorted: bool,
    job: &Job,
) -> Summary {
    Summary {
        table: destination.table.clone(),
        created: target.created().map(str::to_owned),
        sorted_by: match is_sorted {
            true => names(destination, destination.key.iter().map(|part| part.column)),
            false => Vec::new(),
        },
        why_not_direct: choice.why_not.take(),
        why_not_sorted: choice.why_in_input_order.take(),
        writer: match choice.is_direct {
            true => "direct".to_owned(),
            false => String::new(),
        },
        is_dry: job.is_dry,
        ..Summary::default()
    }
}

fn names(destination: &Destination, columns: impl Iterator<Item = usize>) -> Vec<String> {
    columns
        .map(|column| destination.columns[column].name.clone())
        .collect()
}

fn no_columns(header: &Header, destination: &Destination) -> Error {
    let all = names(destination, 0..destination.columns.len());
    Error::Refused {
        what: format!(
            "{}: no column of it is one of the table {}, which has {}",
            header.path.display(),
            destination.table,
            all.join(", ")
        ),
    }
}
