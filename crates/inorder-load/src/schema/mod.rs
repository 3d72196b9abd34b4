//! A table's indexes, constraints and defaults as SQLite reports them, and whether SQLite accepts a row.
//!
//! SQLite is asked about a copy of the schema in memory ([`Scratch`]), never by parsing SQL.

mod checks;
mod children;
mod constraints;
mod defaults;
mod indexes;
mod input_order;
mod newcomers;
mod scratch;

use std::path::Path;

use rusqlite::Connection;

use crate::destination::Destination;
use crate::job::Job;
use crate::sql::quoted;

pub(crate) use checks::{Checks, are_needed as are_checks_needed};
pub(crate) use children::children;
pub(crate) use constraints::{has_checks, unique_keys};
pub(crate) use defaults::{constants, given as given_defaults, value as default_value};
pub(crate) use indexes::{IndexInfo, Term, ValueOf, indexes};
pub(crate) use input_order::reason as input_order_reason;
pub(crate) use newcomers::Newcomers;
pub(crate) use scratch::Scratch;

/// A column that a load adds.
#[derive(Debug, Clone)]
pub(crate) struct Altered {
    /// Its name.
    pub(crate) column: String,
    /// The statement that adds it.
    pub(crate) sql: String,
}

/// The table that rows are loaded into, in a SQLite database.
#[derive(Debug, Clone)]
pub(crate) struct Goal<'a> {
    /// The database.
    pub(crate) path: &'a Path,
    /// The database as it is; `None` if the load creates it.
    pub(crate) database: Option<&'a Connection>,
    /// The statements that create the table; `None` if it exists and stays.
    pub(crate) created: Option<&'a str>,
    /// The statements after the rows, of a table that the load creates.
    pub(crate) completed: Option<&'a str>,
    /// The columns that the load adds to a table that exists.
    pub(crate) altered: &'a [Altered],
    /// Whether the load deletes the rows that are there.
    pub(crate) is_truncated: bool,
    /// The table.
    pub(crate) destination: &'a Destination,
    /// The rows that come.
    pub(crate) newcomers: &'a Newcomers,
}

impl Goal<'_> {
    /// The table with its rows, if any of them stay.
    pub(crate) fn kept(&self) -> Option<&Connection> {
        self.database
            .filter(|_| self.created.is_none() && !self.is_truncated)
    }

    /// The SQL that the transaction of the load begins with.
    pub(crate) fn first_statements(&self) -> Option<String> {
        let mut statements: Vec<String> = self.created.map(str::to_owned).into_iter().collect();
        statements.extend(self.altered.iter().map(|altered| altered.sql.clone()));
        if self.is_truncated {
            let table = quoted(&self.destination.table);
            statements.push(format!("DELETE FROM main.{table}"));
        }
        (!statements.is_empty()).then(|| statements.join(";\n"))
    }
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
