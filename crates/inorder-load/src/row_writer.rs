//! The interface between a load and what writes its rows: a [`Sink`] describes a table and begins a [`RowWriter`].

use std::path::PathBuf;

use rusqlite::Connection;

use crate::Error;
use crate::destination::Destination;
use crate::encode::Rowids;
use crate::job::{Job, Progress, Summary};
use crate::note::Note;
use crate::order::SortLimits;
use crate::rows::Batch;
use crate::schema::Checks;

/// The writing method that a sink chose.
#[derive(Default)]
pub(crate) struct Choice {
    /// Whether the writer takes one row per key, also if later rows update earlier ones.
    pub(crate) settles_updates: bool,
    /// Whether the direct page writer writes them. Records then have every stored column.
    pub(crate) writes_pages: bool,
    /// Why it merges them with those that the table has, if it does.
    pub(crate) merges: Option<String>,
    /// Why pages are not written.
    pub(crate) why_not_pages: Option<String>,
    /// Further sorts that run while rows are written, such as those of indexes. They share the memory.
    pub(crate) further_sorts: usize,
    /// The values of columns in rows of files without them: each column that the first rows don't give, for records with
    /// every column, and each other column with a default that is the same in each row.
    pub(crate) constants: Vec<(usize, rusqlite::types::Value)>,
    /// Why rows are written in the order of the input whatever the job says: the result depends on their order. The
    /// database then decides about every row, including NULLs and types.
    pub(crate) why_in_input_order: Option<String>,
    /// Whether a row may replace another.
    pub(crate) may_replace: bool,
    /// The rowids for rows that bring none.
    pub(crate) rowids: Option<Rowids>,
    /// Evaluates constraints of each row before duplicates are resolved.
    pub(crate) checks: Option<Checks>,
}

/// A table that rows can be written to.
pub(crate) trait Sink: Send {
    /// Describes the table.
    fn destination(&self) -> &Destination;

    /// The statements that will create it; `None` if it exists.
    fn created(&self) -> Option<String>;

    /// What is to be said about the table.
    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }

    /// Whether the load creates the database.
    fn is_database_new(&self) -> bool {
        false
    }

    /// The folder that rows are spilled to, if the job names none.
    fn spill_folder(&self) -> PathBuf;

    /// Decides how to write rows that give these columns.
    ///
    /// # Errors
    /// [`Error::Refused`] if the table doesn't allow what the job asks for.
    fn choose(&self, given: &[usize], job: &Job) -> Result<Choice, Error>;

    /// Begins the transaction.
    ///
    /// # Errors
    /// If the database is locked or was changed since it was described.
    fn writer(
        self: Box<Self>,
        plan: &WritePlan<'_>,
        progress: &Progress,
    ) -> Result<Box<dyn RowWriter>, Error>;
}

/// Decisions before the first row is written.
pub(crate) struct WritePlan<'a> {
    /// The load.
    pub(crate) job: &'a Job,
    /// The table.
    pub(crate) destination: Destination,
    /// The columns of each record, by their places in the destination.
    pub(crate) record: Vec<usize>,
    /// Those that the first rows give.
    pub(crate) given: Vec<usize>,
    /// Those with a default that is known.
    pub(crate) defaulted: Vec<usize>,
    /// Whether the direct page writer writes the rows.
    pub(crate) writes_pages: bool,
    /// Why it merges them with those that the table has, if it does.
    pub(crate) merges: Option<String>,
    /// Whether the writer takes one row per key, also if later rows update earlier ones.
    pub(crate) settles_updates: bool,
    /// Whether rows are written one by one in the order of the input.
    pub(crate) is_in_input_order: bool,
    /// Whether the writer counts the rows that others replaced.
    pub(crate) counts_replaced: bool,
    /// Whether the constraints of each row were evaluated before.
    pub(crate) is_checked: bool,
    /// The largest rowids when rows without one were given theirs.
    pub(crate) rowids: Option<Rowids>,
    /// Whether each row must have the parents that its foreign keys name.
    pub(crate) checks_parents: bool,
    /// Whether rows are read back before the commit, by a [`Proof`].
    pub(crate) is_proven: bool,
    /// The memory limit of each further sort.
    pub(crate) limits: SortLimits,
}

/// Reads the rows back in the transaction that wrote them. An error rolls that back.
pub(crate) type Proof<'a> = &'a mut dyn FnMut(&Connection) -> Result<(), Error>;

/// Writes rows in one transaction. Dropped without [`RowWriter::finish`], it leaves the database as it was.
pub(crate) trait RowWriter {
    /// The writer's name, for the summary.
    fn name(&self) -> &'static str;

    /// Writes a batch. Returns the rows written.
    ///
    /// # Errors
    /// If a row is refused, or the database can't be written.
    fn write(&mut self, batch: &mut Batch<'_>) -> Result<u64, Error>;

    /// Commits, and adds its counts and remarks to the summary. A SQLite database calls the proof before.
    ///
    /// # Errors
    /// If the proof or the commit fails.
    fn finish(
        self: Box<Self>,
        summary: &mut Summary,
        proof: Option<Proof<'_>>,
    ) -> Result<(), Error>;
}
