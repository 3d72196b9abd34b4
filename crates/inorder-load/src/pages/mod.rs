//! The direct writer: a table's pages made here, from rows in the order of its key, instead of by inserts.
//!
//! What the table is, SQLite itself says, of its schema made anew in memory ([`scratch`]); whether it may be
//! written so is a list of obstacles ([`obstacles`]). The trees are built into a file beside the database
//! ([`aside`]), which becomes the database, or whose table SQLite takes over in one transaction ([`install`]).

mod aside;
mod build;
mod checks;
mod defaults;
mod input_order;
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
use crate::encode::Rowids;
use crate::load::{Job, OnDuplicate, Order};
use crate::target::{Choice, WriterChoice};
use inorder_btree::KeyOrder;
use layout::Layout;
use scratch::Scratch;

pub(crate) use aside::create_database;
pub(crate) use checks::Checks;
pub(crate) use defaults::value as default_value;
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

/// How rows that give these columns are written: directly where that can be, in the order of the input where the
/// outcome depends on it.
///
/// # Errors
/// Where the job wants the direct writer and it can't be had, or SQLite can't read the schema.
pub(crate) fn choose(goal: &Goal<'_>, given: &[usize], job: &Job) -> Result<Choice, Error> {
    let failed = |source| Error::Database {
        path: goal.path.to_owned(),
        source,
    };
    let scratch = match Scratch::new(goal) {
        Ok(scratch) => scratch,
        Err(_) if job.writer == WriterChoice::Statements => {
            return Ok(Choice {
                why_in_input_order: Some("its schema can't be made anew".to_owned()),
                ..Choice::default()
            });
        }
        Err(error) => return Err(failed(error)),
    };
    let case = obstacles::Case {
        goal,
        scratch: &scratch,
        job,
    };
    let mut choice = match job.writer {
        WriterChoice::Statements => Choice::default(),
        _ => direct(&case, given)?,
    };
    if !choice.is_direct {
        choice.why_in_input_order = input_order::first(&case).map_err(failed)?;
    }
    let has_unique_keys = obstacles::unique_keys(&case).map_err(failed)? > 0;
    let has_own_ways = choice.why_in_input_order.is_some();
    choice.may_replace =
        has_unique_keys && (job.on_duplicate == OnDuplicate::Replace || has_own_ways);
    if has_own_ways {
        return Ok(choice);
    }
    choice.rowids = rowids(&case).map_err(failed)?;
    let may_leave_out = job.on_duplicate != OnDuplicate::Error || job.errors_max > 0;
    let record = match choice.is_direct {
        true => &goal.destination.physical,
        false => given,
    };
    let is_looked_at = may_leave_out
        && (has_unique_keys || choice.is_direct)
        && checks::are_needed(&scratch, goal.destination, record).map_err(failed)?;
    if is_looked_at {
        let checks = Checks::new(scratch, goal.destination, record, job.on_duplicate);
        choice.checks = Some(checks.map_err(failed)?);
    }
    Ok(choice)
}

/// What rowids are counted from, where a column is one.
fn rowids(case: &obstacles::Case<'_>) -> rusqlite::Result<Option<Rowids>> {
    let destination = case.goal.destination;
    let Some(rowid) = destination.rowid else {
        return Ok(None);
    };
    let is_counted =
        "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_sequence' AND ?1 <> ''";
    let is_counted: bool = case.scratch.ask(is_counted, |row| row.get(0))?[0];
    let database = match (case.goal.database, case.goal.created) {
        (Some(database), None) => database,
        _ => {
            return Ok(Some(Rowids {
                largest: None,
                sequence: is_counted.then_some(0),
            }));
        }
    };
    let column = &destination.columns[rowid].name;
    Rowids::of(database, &destination.table, column, is_counted).map(Some)
}

/// Whether rows that give these columns can be written directly, and why not.
fn direct(case: &obstacles::Case<'_>, given: &[usize]) -> Result<Choice, Error> {
    let obstacles::Case { goal, job, .. } = *case;
    let failed = |source| Error::Database {
        path: goal.path.to_owned(),
        source,
    };
    let found = match obstacles::first(case).map_err(failed)? {
        Some(why) => Err(why),
        None => fit(case, given).map_err(failed)?,
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
        ..Choice::default()
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
