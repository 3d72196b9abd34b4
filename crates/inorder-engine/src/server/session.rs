//! Connections to a server: what a driver's has to do, and what all engines do with them.

use super::{ServerReader, ServerWriter};
use crate::{Batch, Error, Reader, Settings, Write, Writer};
use std::{
    any::Any,
    io,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

/// What is said where a connection ended before its time.
pub const LOST: &str =
    "the connection was lost: the server ended, or can't be reached any more; see its log";

/// Whether the other side is gone.
pub fn is_end(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof
    )
}

/// What a connection said when it refused something.
#[derive(Debug)]
pub struct Failure {
    /// The server's own message, or the driver's.
    pub message: String,
    /// Whether it is about a value or a constraint of the row.
    pub is_of_the_row: bool,
    /// Whether another transaction was in the way and this one is rolled back.
    pub is_conflict: bool,
}

impl Failure {
    /// The crate's error for it.
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
    /// Where it leads to, and who asks.
    type Address: Clone + Send + Sync;
    /// A prepared statement. Its parameters are written `?`.
    type Statement: Send;

    /// Connects. `enforces_foreign_keys` is of this connection alone.
    fn open(address: &Self::Address, enforces_foreign_keys: bool) -> Result<Self, Failure>;

    /// A name as its SQL writes it.
    fn quoted(name: &str) -> String;

    /// Runs statements that return nothing.
    fn run(&mut self, sql: &str) -> Result<(), Failure>;

    /// Prepares a statement, which isn't empty.
    fn prepare(&mut self, sql: &str) -> Result<Self::Statement, Failure>;

    /// How many parameters a statement has.
    fn parameters(statement: &Self::Statement) -> usize;

    /// Runs a statement with the values of rows, one row after the other, as its parameters.
    fn execute(
        &mut self,
        statement: &Self::Statement,
        batch: &Batch,
        rows: Range<usize>,
    ) -> Result<(), Failure>;

    /// The same, reads every row of the result, and counts them.
    fn query(
        &mut self,
        statement: &Self::Statement,
        batch: &Batch,
        row: usize,
    ) -> Result<u64, Failure>;

    /// The INSERT of a row of defaults. The table is quoted.
    fn insert_of_defaults(table: &str) -> String;

    /// The statement that takes many rows at once. Table and columns are quoted.
    fn bulk_statement(table: &str, columns: &str) -> String;

    /// Sends rows to it. `insert` is the INSERT of one such row.
    fn bulk(
        &mut self,
        sql: &str,
        insert: &Self::Statement,
        batch: &Batch,
        rows: Range<usize>,
    ) -> Result<(), Failure>;
}

/// What has to live as long as any connection, such as a private server.
pub type Keeper = Arc<dyn Any + Send + Sync>;

/// A connection that keeps what it leads to.
pub struct Session<C> {
    /// Dropped first.
    pub connection: C,
    _keeper: Keeper,
}

impl<C: Connection> Session<C> {
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

/// The connections of one open database: one for control, one for each writer and reader.
pub struct Sessions<C: Connection> {
    control: Mutex<Session<C>>,
    address: C::Address,
    enforces_foreign_keys: bool,
    write: Write,
    keeper: Keeper,
}

impl<C: Connection> Sessions<C> {
    /// The sessions beside a connection that is there.
    pub fn new(control: C, address: C::Address, settings: &Settings, keeper: Keeper) -> Self {
        Sessions {
            control: Mutex::new(Session {
                connection: control,
                _keeper: Arc::clone(&keeper),
            }),
            address,
            enforces_foreign_keys: settings.foreign_keys,
            write: settings.write,
            keeper,
        }
    }

    /// How rows are written, as the settings say.
    pub fn write(&self) -> Write {
        self.write
    }

    /// Does something on the control connection.
    pub fn control<T, E: Into<Failure>>(
        &self,
        doing: &str,
        work: impl FnOnce(&mut C) -> Result<T, E>,
    ) -> Result<T, Error> {
        let mut session = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut session.connection).map_err(|error| error.into().doing(doing))
    }

    /// A new connection.
    pub fn open(&self) -> Result<Session<C>, Error> {
        let connection = C::open(&self.address, self.enforces_foreign_keys)
            .map_err(|failure| failure.doing("connecting"))?;
        Ok(Session {
            connection,
            _keeper: Arc::clone(&self.keeper),
        })
    }

    /// A connection that writes, as the settings say.
    pub fn writer(&self, table: &str, columns: &[&str]) -> Result<Box<dyn Writer>, Error> {
        let writer = self.own_writer(self.open()?, table, columns)?;
        Ok(Box::new(writer))
    }

    /// The same through a connection of the caller's, for more than rows.
    pub fn own_writer(
        &self,
        session: Session<C>,
        table: &str,
        columns: &[&str],
    ) -> Result<ServerWriter<C>, Error> {
        ServerWriter::open(session, table, columns, self.write)
    }

    /// A connection that reads.
    pub fn reader(&self, sql: &str) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(ServerReader::open(self.open()?, sql)?))
    }
}
