//! The measured table, and how its rows are found.

use crate::experiment::{Experiment, Table, factors::Setup};
use inorder_engine::{Batch, Database};

/// The measured table, as the trial made it.
pub struct Subject<'a> {
    /// Its database.
    pub database: &'a dyn Database,
    /// Rows that operations after the load have added, or removed.
    pub rows_added: i64,
    /// The levels in force.
    pub setup: &'a Setup,
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Its name.
    pub table: &'a str,
    /// The tables that were filled with it, each with its rows per row.
    pub members: Vec<(&'a Table, u64)>,
    /// Columns that a row is found by: the primary key, or the first column filled.
    pub by: Vec<String>,
    /// Its name as SQL writes it.
    pub table_sql: String,
    /// The columns in SQL.
    pub by_sql: Vec<String>,
    /// The method by which the engine finds a row by them.
    pub lookup: Lookup,
    /// A sample of their values.
    pub kept: Batch,
}

/// The method of finding a row.
#[derive(Clone, Copy, Debug)]
pub struct Lookup {
    /// Whether by an index, or by the order of the table itself.
    pub is_indexed: bool,
    /// Whether by the primary key, which no two rows share.
    pub is_unique: bool,
}

/// The condition `a = ? AND b = ?`.
pub fn equals(columns: &[String]) -> String {
    let terms: Vec<String> = columns.iter().map(|name| format!("{name} = ?")).collect();
    terms.join(" AND ")
}
