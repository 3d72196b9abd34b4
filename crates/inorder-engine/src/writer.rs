//! Traits of connections for writing and for reading.

use crate::{Batch, Error};
use std::{ops::Range, time::Duration};

/// Retry policy for a locked database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Retries before [`Error::Busy`].
    pub retries_max: u64,
    /// Pause before the first retry. It doubles up to 64 times this value.
    pub pause: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Retry {
            retries_max: 100_000,
            pause: Duration::from_micros(50),
        }
    }
}

/// A connection for writing.
pub trait Writer: Send {
    /// Begins a write transaction, and waits for other writers according to the retry policy.
    ///
    /// # Errors
    /// [`Error::Busy`] if the lock did not become free.
    fn begin(&mut self) -> Result<(), Error>;

    /// Inserts these rows of the batch, one after another.
    ///
    /// # Errors
    /// [`Error::Row`] if a row violates a constraint. The transaction is still open (in PostgreSQL it can only be
    /// rolled back).
    fn insert(&mut self, batch: &Batch, rows: Range<usize>) -> Result<(), Error>;

    /// Prepares inserts into `columns` of another table over the same connection, so that a transaction can write to
    /// several tables. [`Writer::insert_into`] knows it by its number: 1 is the first added table.
    ///
    /// # Errors
    /// If the table or a column isn't there, or the engine writes to one table per connection.
    fn add_table(&mut self, table: &str, _columns: &[&str]) -> Result<(), Error> {
        Err(one_table(table))
    }

    /// Inserts rows as [`Writer::insert`] into an added table, or into the writer's own, which is 0.
    ///
    /// # Errors
    /// Those of [`Writer::insert`].
    fn insert_into(
        &mut self,
        table: usize,
        batch: &Batch,
        rows: Range<usize>,
    ) -> Result<(), Error> {
        match table {
            0 => self.insert(batch, rows),
            _ => Err(one_table(&format!("table {table}"))),
        }
    }

    /// Prepares another statement over the same connection, with a `?` for each parameter. [`Writer::run`] knows it by the
    /// number that is returned.
    ///
    /// # Errors
    /// If the statement is invalid, or the engine runs inserts only.
    fn prepare(&mut self, sql: &str) -> Result<usize, Error> {
        Err(inserts_only(sql))
    }

    /// Runs a prepared statement with the batch's columns at `row` as its parameters, reads every column of every result row,
    /// and returns the number of these.
    ///
    /// # Errors
    /// If the statement fails.
    fn run(&mut self, statement: usize, _batch: &Batch, _row: usize) -> Result<u64, Error> {
        Err(inserts_only(&format!("statement {statement}")))
    }

    /// Runs operations that take long, or may fail, before the commit. Only a [`Load`](crate::Load) has any.
    ///
    /// # Errors
    /// If the rows violate a constraint that is created after them.
    fn complete(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Number of rows that the engine has stored in this transaction, if triggers may make it differ from the number
    /// of inserted rows. Valid after [`Writer::complete`].
    fn stored(&self) -> Option<u64> {
        None
    }

    /// Commits. [`Writer::checkpoint_if_due`] runs a checkpoint that becomes due.
    ///
    /// # Errors
    /// If the disk fails or is full.
    fn commit(&mut self) -> Result<(), Error>;

    /// Rolls back the open transaction, if there is one.
    ///
    /// # Errors
    /// If the engine cannot.
    fn rollback(&mut self) -> Result<(), Error>;

    /// Runs the checkpoint that became due with the last commit, as the engine itself would within the commit.
    /// Returns whether it ran. It is separate so that its time can be measured.
    ///
    /// # Errors
    /// If the disk fails or is full.
    fn checkpoint_if_due(&mut self) -> Result<bool, Error>;

    /// Number of times this writer found the database locked and retried.
    fn retries(&self) -> u64;
}

/// Returns the error of an engine whose connections write to one table each.
fn one_table(table: &str) -> Error {
    Error::Database {
        doing: format!("preparing {table}"),
        message: "a connection of this engine writes to one table only".to_owned(),
    }
}

/// Returns the error of an engine whose writers run nothing but inserts.
fn inserts_only(doing: &str) -> Error {
    Error::Database {
        doing: doing.to_owned(),
        message: "a writer of this engine inserts only".to_owned(),
    }
}

/// A connection for reading, with one prepared query.
pub trait Reader: Send {
    /// Runs the query with the batch's columns at `row` as its parameters, reads every column of every result row,
    /// and returns the number of rows.
    ///
    /// # Errors
    /// If the query fails.
    fn query(&mut self, batch: &Batch, row: usize) -> Result<u64, Error>;
}
