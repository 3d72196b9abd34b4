//! The load itself, from the first row to the commit.
//!
//! ```text
//! inputs ── reader ── sorter ── batch ── writer
//!           encodes,  sorts     resolves   pages, statements
//!           checks              duplicates or a server
//! ```

mod clash;
mod given;
mod lane;
mod mapping;
mod model;
mod output;
mod plan;
mod reader;
#[cfg(test)]
mod tests;
mod types;
mod usage;

use std::path::Path;
use std::time::Instant;

use inorder_engine::LoadTable;

use crate::Error;
use crate::job::{Job, Phase, Progress, Summary};
use crate::note::{Note, NoteKind};
use crate::row_writer::Sink;
use crate::rows::{Inputs, Rejects, bytes_total, spilled};
use crate::sink::{self, ServerSink, Wanted};
use crate::source::{KeptStdin, STDIN, forget_stdin};
pub use given::{GivenRows, run_rows};
use output::Output;
use plan::Plan;
use reader::Reader;
use usage::Usage;

/// Loads the rows of a job into a SQLite file, or into a table of the server that [`Job::to`] names by its URL.
///
/// `progress` reports the load to other threads, which can stop it.
///
/// # Errors
/// If an input, the table or a row is wrong, or something can't be read or written. The database is then as it was
/// before.
pub fn run(job: &Job, progress: &Progress) -> Result<Summary, Error> {
    match run_again(job, progress) {
        // Waits that are cut short fail in ways of their own.
        Err(_) if progress.is_stopped() => Err(Error::Stopped),
        result => result,
    }
}

/// Loads, and a second time if the first rows did not decide the types of the columns.
fn run_again(job: &Job, progress: &Progress) -> Result<Summary, Error> {
    let _stdin = keep_stdin(job)?;
    let loaded = run_through(job, progress, sink::open_sink);
    let (Err(error @ (Error::Guess { .. } | Error::NewColumn { .. })), Some(create)) =
        (&loaded, &job.create)
    else {
        return loaded;
    };
    progress.enter(Phase::Read);
    let whole = types::of_all_rows(job, create, progress)?;
    let mut summary = run_through(&whole, progress, sink::open_sink)?;
    summary.notes.push(widened(error, &whole));
    Ok(summary)
}

/// What is said of a load whose first rows did not decide the types of the columns.
fn widened(error: &Error, whole: &Job) -> Note {
    let told = |place: &str| {
        let text = format!(
            "all rows were read to decide the types of the columns: {place} does not fit those of the first rows"
        );
        Note::new(NoteKind::TypeWidened, text)
    };
    let Error::Guess {
        path, line, column, ..
    } = error
    else {
        return told("a later column");
    };
    let mut note = told(&format!(
        "{}, line {line}, column `{column}`",
        path.display()
    ));
    let found = whole.create.iter().flat_map(|create| &create.found);
    if let Some(found) = found.into_iter().find(|found| found.name == *column)
        && !found.declared_type.is_empty()
        && !whole.to.contains("://")
    {
        note.text += &format!("; `{column}` is {}", found.declared_type);
    }
    note.file = Some(path.display().to_string());
    note.of_column(column).counted(1, *line)
}

/// Keeps what is read from stdin, if all of it may have to be read again to create the table.
fn keep_stdin(job: &Job) -> Result<Option<KeptStdin>, Error> {
    let has_stdin = job
        .inputs
        .iter()
        .any(|input| input.path == Path::new(STDIN));
    if !has_stdin || job.create.is_none() {
        return Ok(None);
    }
    let folder = job.spill_folder.clone().unwrap_or_else(std::env::temp_dir);
    let kept = KeptStdin::begin(&folder);
    kept.map(Some).map_err(|source| Error::Work {
        path: folder,
        source,
    })
}

/// Loads the rows of a job into a table of a server that is connected already. [`Job::to`] is not used.
///
/// # Errors
/// Those of [`run`].
pub fn run_into(
    job: &Job,
    progress: &Progress,
    table: Box<dyn LoadTable>,
) -> Result<Summary, Error> {
    run_through(job, progress, |wanted| ServerSink::open(table, wanted))
}

/// Loads into the sink that `open` opens once the first rows are read.
fn run_through(
    job: &Job,
    progress: &Progress,
    open: impl FnOnce(&Wanted<'_>) -> Result<Option<Box<dyn Sink>>, Error>,
) -> Result<Summary, Error> {
    let before = Usage::now();
    let read_began = Instant::now();
    progress.set_bytes_total(bytes_total(job));
    let mut rejects = Rejects::create(job)?;
    let mut inputs = Inputs::new(job, progress.meter());
    let (sample, header) = inputs.sample(&mut rejects)?;
    progress.set_bytes_total(bytes_total(job));
    let extent = (progress.bytes_total(), !inputs.has_more());
    let create = job.create.as_ref().map(|create| create.spelled(&sample));
    let Some(sink) = open(&Wanted::new(job, create.as_ref(), &sample, extent))? else {
        return Ok(Summary::skipped(job));
    };
    let columns = &sink.destination().columns;
    if !columns.iter().any(|column| column.is_guessed) {
        forget_stdin();
    }
    let notes = create
        .as_ref()
        .map(|create| create.notes(&sample, sink.destination()));
    let (plan, choice) = Plan::new(job, &*sink, &sample, &header)?;
    plan.check_spill_folder(progress.bytes_total())?;
    let origins = inputs.origins();
    let mut output = Output::new(&plan, sink, origins.clone(), progress, &choice);
    output.seconds().read += read_began.elapsed().as_secs_f64();
    let first = (sample, header);
    let mut reader = Reader::new(&plan, choice, inputs, first, progress, &rejects)?;
    load(&plan, &mut reader, &mut output, &mut rejects)?;
    let (rows_read, remarks) = (reader.rows_read(), reader.remarks());
    rejects.finish()?;
    progress.enter(Phase::Finish);
    let mut summary = output.finish(None)?;
    summary.rows_read = rows_read;
    summary.notes.extend(notes.into_iter().flatten());
    summary.notes.extend(remarks);
    summary.rows_refused = rejects.errors();
    summary.refused_because = rejects.told().to_vec();
    summary.bytes_read = progress.bytes_read();
    before.add_to(&mut summary);
    Ok(summary)
}

/// Reads, sorts and writes batches until the end of the last input.
fn load(
    plan: &Plan<'_>,
    reader: &mut Reader<'_>,
    output: &mut Output<'_>,
    rejects: &mut Rejects,
) -> Result<(), Error> {
    let mut memory = None;
    loop {
        let read_began = Instant::now();
        reader.progress().enter(Phase::Read);
        let mut sorter = plan.sorter(memory.take());
        let has_more = reader.fill(&mut sorter, rejects)?;
        output.seconds().read += read_began.elapsed().as_secs_f64();
        if sorter.rows() > 0 || !output.has_begun() {
            let sort_began = Instant::now();
            reader.progress().enter(Phase::Sort);
            let sorted = sorter.finish().map_err(spilled)?;
            output.seconds().sort += sort_began.elapsed().as_secs_f64();
            reader.progress().enter(Phase::Write);
            let written = output.write(sorted, rejects);
            memory = written.map_err(|failure| reader.explain(failure))?;
        }
        if !has_more {
            return Ok(());
        }
    }
}
