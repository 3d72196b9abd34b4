//! The direct page writer: builds the pages of a table from sorted rows, without SQL.
//!
//! [`obstacles`] lists the tables that it can't write. A new database is a file that is built beside its path ([`aside`]) and
//! renamed. In an existing database, the trees are built behind its last page ([`append`]),
//! merged with the rows that are there where that writes fewer pages than inserts ([`merging`], [`kept`]). Where that isn't possible, SQLite
//! copies the table from a temporary file in one transaction ([`install`]).

mod append;
mod aside;
mod build;
mod install;
mod kept;
mod layout;
mod lock;
mod merging;
mod obstacles;
mod writer;

use inorder_btree::KeyOrder;

use crate::Error;
use crate::database::failed;
use crate::destination::Destination;
use crate::job::{Job, RowOrder, WriterChoice};
use crate::row_writer::Choice;
use crate::schema::{Case, constants, has_checks};
use layout::Layout;

pub(crate) use aside::create_database;
pub(crate) use install::complete;
pub(crate) use writer::PageWriter;

/// Decides whether the page writer can write rows that give these columns.
///
/// # Errors
/// If the job wants it and the table doesn't allow it, or SQLite can't read the schema.
pub(crate) fn choose(case: &Case<'_>, given: &[usize]) -> Result<Choice, Error> {
    let Case { goal, job, .. } = *case;
    let failed = failed(goal.path);
    let found = match obstacles::first(case).map_err(&failed)? {
        Some(why) => Err(why),
        None => fit(case, given).map_err(&failed)?,
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
            why_not_pages: Some(why),
            ..Choice::default()
        }),
    }
}

/// Decides how the pages of a table without obstacles are written, or why statements are better.
fn fit(case: &Case<'_>, given: &[usize]) -> rusqlite::Result<Result<Choice, String>> {
    let destination = case.goal.destination;
    let merges = merging::reason_for(case)?;
    let further_sorts = sorted_apart(case, merges.is_some())?;
    // Looking at a row is an insert of it: where no index is to be sorted, statements are done with that.
    if case.job.writer == WriterChoice::Auto && further_sorts == 0 && has_checks(case.scratch)? {
        let why = "it has CHECK constraints and no index in another order, so that INSERT statements cost less";
        return Ok(Err(why.to_owned()));
    }
    let constants = constants(case.scratch, destination, given);
    Ok(constants.map(|constants| Choice {
        writes_pages: true,
        merges,
        further_sorts,
        constants,
        ..Choice::default()
    }))
}

/// The order of all rows of a load, for records with these columns; `None` if they are not all sorted, or come between
/// others.
fn rows_order(
    job: &Job,
    destination: &Destination,
    record: &[usize],
    merges: bool,
) -> Option<KeyOrder> {
    match job.order {
        RowOrder::Full if !merges => destination.order(record),
        _ => None,
    }
}

/// The number of indexes whose entries need a separate sort.
fn sorted_apart(case: &Case<'_>, merges: bool) -> rusqlite::Result<usize> {
    let destination = case.goal.destination;
    let record = &destination.physical;
    let order = rows_order(case.job, destination, record, merges);
    let layout = Layout::new(case.scratch, destination, record, order.as_ref())?;
    Ok(layout.indexes.len())
}
