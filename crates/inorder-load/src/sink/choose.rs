//! Decides how rows are written into a SQLite table: by pages or by statements, and in which order.

use crate::Error;
use crate::database::failed;
use crate::destination::Destination;
use crate::encode::Rowids;
use crate::job::{Job, OnDuplicate, WriterChoice};
use crate::pages;
use crate::row_writer::Choice;
use crate::schema::{
    Case, Checks, Goal, Scratch, are_checks_needed, given_defaults, input_order_reason, unique_keys,
};

/// Decides how rows that give these columns are written.
///
/// # Errors
/// If the job wants the direct page writer and the table doesn't allow it, or SQLite can't read the schema.
pub(super) fn choose(goal: &Goal<'_>, given: &[usize], job: &Job) -> Result<Choice, Error> {
    let failed = failed(goal.path);
    let scratch = match Scratch::new(goal) {
        Ok(scratch) => scratch,
        Err(_) if job.writer == WriterChoice::Statements => {
            return Ok(Choice {
                why_in_input_order: Some("its schema can't be recreated".to_owned()),
                ..Choice::default()
            });
        }
        Err(error) => return Err(failed(error)),
    };
    let case = Case {
        goal,
        scratch: &scratch,
        job,
    };
    check_update(goal.destination, given, job)?;
    let mut choice = match job.writer {
        WriterChoice::Statements => Choice::default(),
        _ => pages::choose(&case, given)?,
    };
    if !choice.writes_pages {
        choice.why_in_input_order = input_order_reason(&case).map_err(&failed)?;
    }
    let defaults = given_defaults(&scratch, goal.destination, given);
    choice.constants.extend(defaults);
    let has_unique_keys = unique_keys(&case).map_err(&failed)? > 0;
    let has_own_ways = choice.why_in_input_order.is_some();
    choice.may_replace =
        has_unique_keys && (job.on_duplicate == OnDuplicate::Replace || has_own_ways);
    if has_own_ways {
        return Ok(choice);
    }
    choice.rowids = rowids(&case).map_err(&failed)?;
    let may_leave_out = job.on_duplicate != OnDuplicate::Error || job.errors_max > 0;
    let record = match choice.writes_pages {
        true => &goal.destination.physical,
        false => given,
    };
    let is_looked_at = may_leave_out
        && job.on_duplicate != OnDuplicate::Update
        && (has_unique_keys || choice.writes_pages)
        && are_checks_needed(&scratch, goal.destination, record).map_err(&failed)?;
    if is_looked_at {
        let checks = Checks::new(scratch, goal.destination, record, job.on_duplicate);
        choice.checks = Some(checks.map_err(&failed)?);
    }
    Ok(choice)
}

/// Checks that rows to update can be found.
fn check_update(destination: &Destination, given: &[usize], job: &Job) -> Result<(), Error> {
    if job.on_duplicate != OnDuplicate::Update {
        return Ok(());
    }
    let missing = destination
        .key
        .iter()
        .find(|part| !given.contains(&part.column));
    let what = match missing {
        None if destination.is_key_unique => return Ok(()),
        None => format!("the table {} has no unique key", destination.table),
        Some(part) => {
            let name = &destination.columns[part.column].name;
            format!(
                "the input has no column `{name}`, which is in the key of {}",
                destination.table
            )
        }
    };
    Err(Error::Refused {
        what: format!("--on-duplicate update finds rows by their key: {what}"),
    })
}

/// The largest rowids of the table, if it has a rowid alias.
fn rowids(case: &Case<'_>) -> rusqlite::Result<Option<Rowids>> {
    let destination = case.goal.destination;
    let Some(rowid) = destination.rowid else {
        return Ok(None);
    };
    let is_counted =
        "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_sequence' AND ?1 <> ''";
    let is_counted: bool = case.scratch.ask(is_counted, |row| row.get(0))?[0];
    let (Some(database), None) = (case.goal.database, case.goal.created) else {
        return Ok(Some(Rowids {
            largest: None,
            sequence: is_counted.then_some(0),
        }));
    };
    let column = &destination.columns[rowid].name;
    let found = Rowids::of(database, &destination.table, column, is_counted)?;
    Ok(Some(Rowids {
        largest: found.largest.filter(|_| !case.goal.is_truncated),
        ..found
    }))
}
