//! The kinds of databases that rows are loaded into. A sink is one file here and one line in the list [`SINKS`].

mod choose;
mod server;
mod sqlite;
mod statements;
mod survivors;
mod table;

use std::time::Duration;

use crate::Error;
use crate::destination::{Create, Sample};
use crate::job::{Existing, Job, OnDuplicate};
use crate::row_writer::Sink;

pub(crate) use server::ServerSink;
pub(crate) use sqlite::open_created;

/// Every kind of sink. The last one takes what no other recognises.
const SINKS: &[Kind] = &[server::SINK, sqlite::SINK];

/// A kind of database.
struct Kind {
    /// Whether this names such a database.
    recognises: fn(to: &str) -> bool,
    /// Describes a table, or says how it will be created; nothing is changed. `None` if the table exists and the job
    /// then loads nothing.
    open: fn(wanted: &Wanted<'_>) -> Result<Opened, Error>,
}

/// A sink, if there is anything to load.
type Opened = Option<Box<dyn Sink>>;

/// The table that is wanted.
pub(crate) struct Wanted<'a> {
    /// The database.
    pub(crate) to: &'a str,
    /// The table.
    pub(crate) table: &'a str,
    /// The table to create if there is none; `None` if it must exist.
    pub(crate) create: Option<&'a Create>,
    /// What is done with a table that exists.
    pub(crate) existing: Existing,
    /// The time to wait for a lock of the database; `None` if nothing will be written.
    pub(crate) busy_timeout: Option<Duration>,
    /// Whether columns are added to a table that exists.
    pub(crate) alters: bool,
    /// What is done with a row whose key another row has.
    pub(crate) on_duplicate: OnDuplicate,
    /// The first rows, which give a new table its types.
    pub(crate) sample: &'a Sample,
    /// The bytes of the inputs; 0 if that is unknown.
    pub(crate) input_bytes: u64,
    /// Whether the first rows are all.
    pub(crate) is_sample_whole: bool,
}

impl<'a> Wanted<'a> {
    /// The table of a job. `create` has the job's definition with the columns as the input spells them.
    pub(crate) fn new(
        job: &'a Job,
        create: Option<&'a Create>,
        sample: &'a Sample,
        (input_bytes, is_sample_whole): (u64, bool),
    ) -> Self {
        Wanted {
            to: &job.to,
            table: &job.table,
            create,
            existing: job.existing,
            busy_timeout: (!job.is_dry).then_some(job.busy_timeout),
            alters: job.alters,
            on_duplicate: job.on_duplicate,
            sample,
            input_bytes,
            is_sample_whole,
        }
    }

    /// The error of a table that the job must not change. `place` begins the message.
    fn refused(&self, place: &str, what: &str) -> Error {
        Error::Refused {
            what: format!(
                "{place}the table {} {what}; choose what happens to it: --append adds rows, --truncate deletes its rows \
                 first, --replace-table creates it again, --if-not-exists loads nothing",
                self.table
            ),
        }
    }
}

/// Opens a sink; `None` if the table exists and the job then loads nothing.
///
/// # Errors
/// If the database or the table doesn't exist and isn't to be created, or exists and the job doesn't allow that.
pub(crate) fn open_sink(wanted: &Wanted<'_>) -> Result<Option<Box<dyn Sink>>, Error> {
    let kind = SINKS.iter().find(|kind| (kind.recognises)(wanted.to));
    let kind = kind.expect("the last sink takes everything");
    (kind.open)(wanted)
}
