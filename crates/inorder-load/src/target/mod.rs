//! Where rows go. A target is one file here and one line in the list [`TARGETS`].

mod kept;
mod server;
mod sqlite;
mod statements;

use std::path::PathBuf;

use crate::Error;
use crate::destination::{Create, Destination, Sample};
use crate::encode::Rowids;
use crate::load::{Batch, Job, Progress, Summary};
use crate::order::Limits;
use crate::pages::Checks;

pub(crate) use sqlite::{check_schema, failed, open_database, orphans};

pub use server::ServerTarget;

/// Every kind of target, the one that takes what no other does last.
pub const TARGETS: &[Kind] = &[server::TARGET, sqlite::TARGET];

/// A kind of database that rows are loaded into.
pub struct Kind {
    /// What it is, for messages.
    pub name: &'static str,
    /// Whether it is what this names.
    recognises: fn(to: &str) -> bool,
    /// Opens a table, or says how it will be made; nothing is changed.
    open: fn(wanted: &Wanted<'_>) -> Result<Box<dyn Target>, Error>,
}

/// The table that is wanted.
pub struct Wanted<'a> {
    /// The database.
    pub to: &'a str,
    /// The table.
    pub table: &'a str,
    /// How it is made, where it is.
    pub create: Option<&'a Create>,
    /// What it is made for.
    pub sample: &'a Sample,
}

/// Opens a target.
///
/// # Errors
/// Where the database or the table is not there, or is and should be made.
pub fn open(wanted: &Wanted<'_>) -> Result<Box<dyn Target>, Error> {
    let kind = TARGETS.iter().find(|kind| (kind.recognises)(wanted.to));
    let kind = kind.ok_or_else(|| Error::Refused {
        what: format!("{}: no kind of database that is known", wanted.to),
    })?;
    (kind.open)(wanted)
}

/// Which writer is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriterChoice {
    /// The direct one where it may.
    #[default]
    Auto,
    /// The direct one or none.
    Direct,
    /// Statements.
    Statements,
}

impl WriterChoice {
    /// Every value with its name.
    pub const ALL: &[(&str, WriterChoice)] = &[
        ("auto", WriterChoice::Auto),
        ("direct", WriterChoice::Direct),
        ("statements", WriterChoice::Statements),
    ];
}

/// How a target will write.
#[derive(Default)]
pub struct Choice {
    /// Directly: records then have every stored column.
    pub is_direct: bool,
    /// Why not, where it isn't.
    pub why_not: Option<String>,
    /// Sorts that go on while rows are written, beside that of the rows: memory is shared with them.
    pub sorts_beside: usize,
    /// The values of columns that the input doesn't give, where records have every column.
    pub constants: Vec<(usize, rusqlite::types::Value)>,
    /// Why rows are written in the order of the input whatever the job says: the outcome depends on it. The
    /// database then decides about every row, NULLs and types included.
    pub why_in_input_order: Option<String>,
    /// Whether a row may take another's place.
    pub may_replace: bool,
    /// The rowids that rows without one get, where records have them.
    pub rowids: Option<Rowids>,
    /// What looks at each row before duplicates among them are settled.
    pub(crate) checks: Option<Checks>,
}

/// A table, before rows are read.
pub trait Target: Send {
    /// The table.
    fn destination(&self) -> &Destination;

    /// The statement that will make it.
    fn created(&self) -> Option<&str>;

    /// Where rows may be spilled to.
    fn spill_folder(&self) -> PathBuf;

    /// How rows that give these columns will be written.
    ///
    /// # Errors
    /// Where the job wants a way that can't be taken.
    fn choose(&self, given: &[usize], job: &Job) -> Result<Choice, Error>;

    /// Begins to write.
    ///
    /// # Errors
    /// Where the database is locked, or was changed meanwhile.
    fn writer(self: Box<Self>, plan: &WritePlan<'_>) -> Result<Box<dyn RowWriter>, Error>;
}

/// What is known when rows begin to be written.
pub struct WritePlan<'a> {
    /// The load.
    pub job: &'a Job,
    /// The table.
    pub destination: &'a Destination,
    /// The columns of each record, by their places in the destination.
    pub record: &'a [usize],
    /// Whether the direct writer was chosen.
    pub is_direct: bool,
    /// Whether rows are written one by one in the order of the input.
    pub is_in_input_order: bool,
    /// Whether rows that others replaced are counted by the writer.
    pub counts_replaced: bool,
    /// Whether each row was looked at before.
    pub is_checked: bool,
    /// The rowids from which on rows without one were counted.
    pub rowids: Option<Rowids>,
    /// What each further sort may use.
    pub limits: &'a Limits,
    /// How far the load is, and whether it's to stop.
    pub progress: &'a Progress,
}

/// Writes rows. Dropped without [`RowWriter::finish`] it leaves the database as it was.
pub trait RowWriter {
    /// What it is, for the summary.
    fn name(&self) -> &'static str;

    /// Writes a batch and says how many rows it wrote.
    ///
    /// # Errors
    /// Where a row isn't taken, or nothing can be written.
    fn write(&mut self, batch: &mut Batch<'_>) -> Result<u64, Error>;

    /// Makes all that was written durable, and adds to the summary what is worth knowing.
    ///
    /// # Errors
    /// Where that fails.
    fn finish(self: Box<Self>, summary: &mut Summary) -> Result<(), Error>;
}
