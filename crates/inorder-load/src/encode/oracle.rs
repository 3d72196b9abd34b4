//! SQLite itself, for conversions between reals and text, which must be equal to the last bit.

use rusqlite::Connection;

/// A connection to an in-memory database.
pub(crate) struct Oracle(Connection);

impl Oracle {
    pub(crate) fn new() -> rusqlite::Result<Self> {
        inorder_sqlite::open_in_memory().map(Oracle)
    }

    /// Converts digits to a real.
    pub(super) fn real(&self, digits: &str) -> f64 {
        let read = "SELECT CAST(?1 AS REAL)";
        self.ask(read, digits)
            .expect("a cast to a real never fails")
    }

    /// Converts a real to text.
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
