//! The connections of an open database.

use super::{
    Connection, Failure, ServerReader, ServerWriter,
    session::{Keeper, Session},
};
use crate::{Error, Reader, Settings, Write, Writer};
use std::sync::{Mutex, PoisonError};

/// Connections of one open database: one for control, and one per writer and reader.
pub struct Sessions<C: Connection> {
    control: Mutex<Session<C>>,
    address: C::Address,
    enforces_foreign_keys: bool,
    write: Write,
    keeper: Keeper,
}

impl<C: Connection> Sessions<C> {
    /// Creates the sessions for an existing control connection.
    pub fn new(control: C, address: C::Address, settings: &Settings, keeper: Keeper) -> Self {
        Sessions {
            control: Mutex::new(Session::new(control, &keeper)),
            address,
            enforces_foreign_keys: settings.foreign_keys,
            write: settings.write,
            keeper,
        }
    }

    /// Path of the rows according to the settings.
    pub fn write(&self) -> Write {
        self.write
    }

    /// Runs a function on the control connection.
    pub fn control<T, E: Into<Failure>>(
        &self,
        doing: &str,
        work: impl FnOnce(&mut C) -> Result<T, E>,
    ) -> Result<T, Error> {
        let mut session = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut session.connection).map_err(|error| error.into().doing(doing))
    }

    /// Opens a connection.
    pub fn open(&self) -> Result<Session<C>, Error> {
        let connection = C::open(&self.address, self.enforces_foreign_keys)
            .map_err(|failure| failure.doing("connecting"))?;
        Ok(Session::new(connection, &self.keeper))
    }

    /// Opens a writing connection according to the settings.
    pub fn writer(&self, table: &str, columns: &[&str]) -> Result<Box<dyn Writer>, Error> {
        let writer = self.own_writer(self.open()?, table, columns)?;
        Ok(Box::new(writer))
    }

    /// Creates a writer on the caller's connection, which can run more than inserts.
    pub fn own_writer(
        &self,
        session: Session<C>,
        table: &str,
        columns: &[&str],
    ) -> Result<ServerWriter<C>, Error> {
        ServerWriter::open(session, table, columns, self.write)
    }

    /// Opens a reading connection.
    pub fn reader(&self, sql: &str) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(ServerReader::open(self.open()?, sql)?))
    }
}
