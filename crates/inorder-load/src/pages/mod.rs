//! The direct writer: a table's pages made here, from rows in the order of its key, instead of by inserts.
//!
//! What the table is, SQLite itself says, of its schema made anew in memory ([`scratch`]); whether it may be
//! written so is a list of obstacles ([`obstacles`]). The trees are built into a file beside the database
//! ([`aside`]), which becomes the database, or whose table SQLite takes over in one transaction ([`install`]).

mod aside;
mod build;
mod checks;
mod defaults;
mod install;
mod layout;
mod obstacles;
mod scratch;
pub(crate) mod space;
mod writer;

use std::path::Path;

use rusqlite::Connection;

use crate::Error;
use crate::destination::Destination;
use crate::load::{Job, Order};
use crate::target::{Choice, WriterChoice};
use inorder_btree::KeyOrder;
use layout::Layout;
use scratch::Scratch;

pub(crate) use aside::create_database;
pub(crate) use writer::Direct;

/// The table that rows go to.
#[derive(Debug, Clone)]
pub(crate) struct Goal<'a> {
    /// The database.
    pub(crate) path: &'a Path,
    /// The database as it is; `None` where there is none yet.
    pub(crate) database: Option<&'a Connection>,
    /// The statement that makes the table, where it isn't there.
    pub(crate) created: Option<&'a str>,
    /// The table.
    pub(crate) destination: &'a Destination,
}

/// Whether rows that give these columns can be written directly, and why not.
///
/// # Errors
/// Where the job wants the direct writer and it can't be had, or SQLite can't read the schema.
pub(crate) fn choose(goal: &Goal<'_>, given: &[usize], job: &Job) -> Result<Choice, Error> {
    if job.writer == WriterChoice::Statements {
        return Ok(Choice::default());
    }
    let failed = |source| Error::Database {
        path: goal.path.to_owned(),
        source,
    };
    let scratch = Scratch::new(goal).map_err(failed)?;
    let case = obstacles::Case {
        goal,
        scratch: &scratch,
        job,
    };
    let found = match obstacles::first(&case).map_err(failed)? {
        Some(why) => Err(why),
        None => fit(&case, given).map_err(failed)?,
    };
    match found {
        Ok(choice) => Ok(choice),
        Err(why) if job.writer == WriterChoice::Direct => Err(Error::Refused {
            what: format!(
                "{} can't be written directly: {why}",
                goal.destination.table
            ),
        }),
        Err(why) => Ok(Choice {
            why_not: Some(why),
            ..Choice::default()
        }),
    }
}

/// How a table without obstacles is written directly, or why it isn't all the same.
fn fit(case: &obstacles::Case<'_>, given: &[usize]) -> rusqlite::Result<Result<Choice, String>> {
    let destination = case.goal.destination;
    let sorts_beside = sorted_beside(case.scratch, destination, case.job)?;
    // Looking at a row is an insert of it: where no index is to be sorted, statements are done with that.
    if case.job.writer == WriterChoice::Auto
        && sorts_beside == 0
        && obstacles::has_checks(case.scratch)?
    {
        let why = "it has CHECKs and no index in another order, so that inserts cost less";
        return Ok(Err(why.to_owned()));
    }
    let constants = defaults::constants(case.scratch, destination, given);
    Ok(constants.map(|constants| Choice {
        is_direct: true,
        why_not: None,
        sorts_beside,
        constants,
    }))
}

/// The order that all rows come in, whose records have these columns; `None` where it is none.
fn rows_order(job: &Job, destination: &Destination, record: &[usize]) -> Option<KeyOrder> {
    match job.order {
        Order::Full => destination.order(record),
        Order::Input | Order::Batch { .. } => None,
    }
}

/// How many indexes are built from entries that are sorted on their own.
fn sorted_beside(
    scratch: &Scratch,
    destination: &Destination,
    job: &Job,
) -> rusqlite::Result<usize> {
    let record = &destination.physical;
    let order = rows_order(job, destination, record);
    Ok(Layout::new(scratch, destination, record, order.as_ref())?
        .indexes
        .len())
}
