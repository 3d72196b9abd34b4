//! Connections of a database with several servers. Each connection keeps all servers running.

use super::session::Keeper;
use crate::{Batch, Error, Reader, Writer};
use std::ops::Range;

/// A connection, and a value that lives as long as the last connection.
pub struct Kept<T: ?Sized> {
    inner: Box<T>,
    /// Never read, dropped last.
    _keeper: Keeper,
}

impl<T: ?Sized> Kept<T> {
    /// Creates a connection that keeps the value.
    pub fn new(inner: Box<T>, keeper: Keeper) -> Self {
        Kept {
            inner,
            _keeper: keeper,
        }
    }
}

impl Reader for Kept<dyn Reader> {
    fn query(&mut self, batch: &Batch, row: usize) -> Result<u64, Error> {
        self.inner.query(batch, row)
    }
}

impl Writer for Kept<dyn Writer> {
    fn begin(&mut self) -> Result<(), Error> {
        self.inner.begin()
    }

    fn insert(&mut self, batch: &Batch, rows: Range<usize>) -> Result<(), Error> {
        self.inner.insert(batch, rows)
    }

    fn add_table(&mut self, table: &str, columns: &[&str]) -> Result<(), Error> {
        self.inner.add_table(table, columns)
    }

    fn insert_into(
        &mut self,
        table: usize,
        batch: &Batch,
        rows: Range<usize>,
    ) -> Result<(), Error> {
        self.inner.insert_into(table, batch, rows)
    }

    fn prepare(&mut self, sql: &str) -> Result<usize, Error> {
        self.inner.prepare(sql)
    }

    fn run(&mut self, statement: usize, batch: &Batch, row: usize) -> Result<u64, Error> {
        self.inner.run(statement, batch, row)
    }

    fn complete(&mut self) -> Result<(), Error> {
        self.inner.complete()
    }

    fn stored(&self) -> Option<u64> {
        self.inner.stored()
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.inner.commit()
    }

    fn rollback(&mut self) -> Result<(), Error> {
        self.inner.rollback()
    }

    fn checkpoint_if_due(&mut self) -> Result<bool, Error> {
        self.inner.checkpoint_if_due()
    }

    fn retries(&self) -> u64 {
        self.inner.retries()
    }
}
