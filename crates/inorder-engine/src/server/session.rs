//! Connections to a server: the interface of a driver, and the code that all engines share.

use crate::{Batch, Error};
use std::{any::Any, io, ops::Range, sync::Arc};

/// Message for a connection that ended unexpectedly.
pub const LOST: &str = "the connection was lost: the server stopped or is unreachable; see its log";

/// Returns whether the other side has closed the connection.
pub fn is_end(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof
    )
}

/// Error of a connection.
#[derive(Debug)]
pub struct Failure {
    /// Message of the server or the driver.
    pub message: String,
    /// Whether a value of the row or a constraint caused it.
    pub is_of_the_row: bool,
    /// Whether a conflict with another transaction caused it, and this one is rolled back.
    pub is_conflict: bool,
}

impl Failure {
    /// Converts it to the crate's error.
    pub fn doing(self, doing: impl Into<String>) -> Error {
        let (doing, message) = (doing.into(), self.message);
        match self.is_conflict {
            true => Error::Conflict { doing, message },
            false => Error::Database { doing, message },
        }
    }
}

/// A driver's connection.
pub trait Connection: Send + Sized + 'static {
    /// Connection options: server and user.
    type Address: Clone + Send + Sync;
    /// A prepared statement. Its parameters are written `?`.
    type Statement: Send;

    /// Connects. `enforces_foreign_keys` applies to this connection only.
    fn open(address: &Self::Address, enforces_foreign_keys: bool) -> Result<Self, Failure>;

    /// Quotes a name for the engine's SQL.
    fn quoted(name: &str) -> String;

    /// Runs statements that return nothing.
    fn run(&mut self, sql: &str) -> Result<(), Failure>;

    /// Prepares a statement, which must not be empty.
    fn prepare(&mut self, sql: &str) -> Result<Self::Statement, Failure>;

    /// Returns the number of a statement's parameters.
    fn parameters(statement: &Self::Statement) -> usize;

    /// Runs a statement with the values of rows as its parameters, one row after the other.
    fn execute(
        &mut self,
        statement: &Self::Statement,
        batch: &Batch,
        rows: Range<usize>,
    ) -> Result<(), Failure>;

    /// Runs a statement in the same way, reads every row of the result, and returns their number.
    fn query(
        &mut self,
        statement: &Self::Statement,
        batch: &Batch,
        row: usize,
    ) -> Result<u64, Failure>;

    /// Returns the INSERT of a row of defaults. The table is quoted.
    fn insert_of_defaults(table: &str) -> String;

    /// Returns the statement for many rows. Table and columns are quoted.
    fn bulk_statement(table: &str, columns: &str) -> String;

    /// Sends rows to that statement. `insert` is the INSERT of one row.
    fn bulk(
        &mut self,
        sql: &str,
        insert: &Self::Statement,
        batch: &Batch,
        rows: Range<usize>,
    ) -> Result<(), Failure>;
}

/// A value that lives as long as any connection, such as a private server.
pub type Keeper = Arc<dyn Any + Send + Sync>;

/// A connection that keeps its server running.
pub struct Session<C> {
    /// Dropped first.
    pub connection: C,
    _keeper: Keeper,
}

impl<C: Connection> Session<C> {
    /// Returns the session of this connection.
    pub fn new(connection: C, keeper: &Keeper) -> Self {
        Session {
            connection,
            _keeper: Arc::clone(keeper),
        }
    }

    /// Prepares a statement.
    pub fn prepare(&mut self, sql: &str) -> Result<C::Statement, Error> {
        if sql.trim().is_empty() {
            return Err(Error::Database {
                doing: sql.to_owned(),
                message: "there is no statement in this text".to_owned(),
            });
        }
        let prepared = self.connection.prepare(sql);
        prepared.map_err(|failure| failure.doing(sql))
    }

    /// Runs statements that return nothing.
    pub fn run(&mut self, sql: &str) -> Result<(), Error> {
        let ran = self.connection.run(sql);
        ran.map_err(|failure| failure.doing(sql))
    }
}
