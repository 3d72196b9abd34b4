//! A session that only reads a running server.

use super::ServerUrl;
use crate::Error;
use std::time::Duration;

/// Rows as the server prints their values. `None` is NULL.
pub type TextRows = Vec<Vec<Option<String>>>;

/// Takes the values of one row as the server prints them; `None` is NULL. It returns whether it wants more rows.
pub type EachRow<'a> = &'a mut dyn FnMut(&[Option<&[u8]>]) -> bool;

/// Stops the statement that a session runs, from any thread.
pub type Cancel = Box<dyn Fn() + Send + Sync>;

/// Limits of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Maximum time of one statement; the server stops it. Zero is no limit.
    pub statement_max: Duration,
    /// Maximum time to wait for a lock.
    pub lock_max: Duration,
}

/// The driver's part of a session.
pub(crate) trait ReadConnection: Send {
    /// Runs a query and returns its rows as text. A query that fails leaves the session and its snapshot usable.
    fn rows(&mut self, sql: &str) -> Result<TextRows, Error>;

    /// Runs a query and reads its rows one after another. The session is not usable after an error, or if not all rows
    /// were read.
    fn stream(&mut self, sql: &str, each: EachRow<'_>) -> Result<(), Error>;

    /// Returns whether the connection is still open.
    fn is_open(&self) -> bool;

    /// Returns a function that stops the running statement over another connection.
    fn cancel(&self) -> Cancel;
}

/// A session in one read-only transaction with a snapshot. The server refuses every statement that writes, and
/// temporary tables too.
pub struct ReadOnly {
    url: ServerUrl,
    connection: Box<dyn ReadConnection>,
}

impl ReadOnly {
    /// Returns the session of a connection.
    pub(crate) fn new(url: &ServerUrl, connection: Box<dyn ReadConnection>) -> Self {
        ReadOnly {
            url: url.clone(),
            connection,
        }
    }

    /// Runs a query and returns its rows as text. A query that fails leaves the session and its snapshot usable.
    ///
    /// # Errors
    /// If the server refuses it, or stops it after the time limit, or the connection is lost.
    pub fn rows(&mut self, sql: &str) -> Result<TextRows, Error> {
        let rows = self.connection.rows(sql);
        match rows {
            Err(Error::Database { doing, message }) if !self.connection.is_open() => {
                Err(self.url.error(format!("{doing}: {message}")))
            }
            rows => rows,
        }
    }

    /// Runs a query and reads its rows one after another, without keeping them. The session is not usable after an error,
    /// or if not all rows were read.
    ///
    /// # Errors
    /// If the server refuses it, or the connection is lost.
    pub fn stream(&mut self, sql: &str, each: EachRow<'_>) -> Result<(), Error> {
        self.connection.stream(sql, each)
    }

    /// Returns whether the connection is still open.
    pub fn is_open(&self) -> bool {
        self.connection.is_open()
    }

    /// Returns a function that stops the running statement over another connection.
    pub fn cancel(&self) -> Cancel {
        self.connection.cancel()
    }
}
