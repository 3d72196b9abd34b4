//! SQLite itself, for the few conversions that only it makes to the last bit.

use rusqlite::Connection;

/// A connection without a database.
pub(crate) struct Oracle(Connection);

impl Oracle {
    pub(crate) fn new() -> rusqlite::Result<Self> {
        Connection::open_in_memory().map(Oracle)
    }

    /// The real that a text of digits is.
    pub(super) fn real(&self, digits: &str) -> f64 {
        let read = "SELECT CAST(?1 AS REAL)";
        self.ask(read, digits)
            .expect("a cast to a real never fails")
    }

    /// The text that a real becomes in a column of text.
    pub(super) fn text(&self, real: f64) -> String {
        let write = "SELECT CAST(?1 AS TEXT)";
        self.ask(write, real).expect("a cast to text never fails")
    }

    fn ask<T: rusqlite::types::FromSql>(
        &self,
        sql: &str,
        value: impl rusqlite::ToSql,
    ) -> rusqlite::Result<T> {
        let mut statement = self.0.prepare_cached(sql)?;
        statement.query_row([value], |row| row.get(0))
    }
}
