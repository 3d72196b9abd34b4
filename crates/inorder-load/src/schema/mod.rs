//! A table's indexes, constraints and defaults as SQLite reports them, and whether SQLite accepts a row.
//!
//! SQLite is asked about a copy of the schema in memory ([`Scratch`]), never by parsing SQL.

mod checks;
mod constraints;
mod defaults;
mod indexes;
mod input_order;
mod scratch;

use std::path::Path;

use rusqlite::Connection;

use crate::destination::Destination;
use crate::job::Job;

pub(crate) use checks::{Checks, are_needed as are_checks_needed};
pub(crate) use constraints::{has_checks, unique_keys};
pub(crate) use defaults::{constants, value as default_value};
pub(crate) use indexes::{IndexInfo, Term, ValueOf, indexes};
pub(crate) use input_order::reason as input_order_reason;
pub(crate) use scratch::Scratch;

/// The table that rows are loaded into, in a SQLite database.
#[derive(Debug, Clone)]
pub(crate) struct Goal<'a> {
    /// The database.
    pub(crate) path: &'a Path,
    /// The database as it is; `None` if the load creates it.
    pub(crate) database: Option<&'a Connection>,
    /// The statement that creates the table; `None` if it exists.
    pub(crate) created: Option<&'a str>,
    /// The table.
    pub(crate) destination: &'a Destination,
}

/// A table and what is to be done with it.
pub(crate) struct Case<'a> {
    pub(crate) goal: &'a Goal<'a>,
    pub(crate) scratch: &'a Scratch,
    pub(crate) job: &'a Job,
}

/// A reason for a message; `None` if it does not apply.
pub(crate) type Reason = rusqlite::Result<Option<String>>;

/// Returns the first reason of a list that applies.
pub(crate) fn first_reason(reasons: &[fn(&Case<'_>) -> Reason], case: &Case<'_>) -> Reason {
    for reason in reasons {
        if let Some(words) = reason(case)? {
            return Ok(Some(words));
        }
    }
    Ok(None)
}
