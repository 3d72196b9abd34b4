//! A session that only reads a running server.

use super::connect::{Target, connect_with, database, target};
use crate::{
    Error,
    remote::{
        Remote,
        read_only::{Cancel, EachRow, ReadConnection, ReadLimits, TextRows},
    },
    server::Failure,
};
use mysql::{Conn, Row, Value, prelude::Queryable as _};

/// Settings of the session. Names are quoted with backticks, whatever the server's SQL mode is.
const SETTINGS: &[&str] = &[
    "SET NAMES utf8mb4",
    "SET SESSION sql_mode = ''",
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
];

/// Begins the transaction with its snapshot.
const BEGIN: &str = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY";
/// Error code of a savepoint that is not there, ER_SP_DOES_NOT_EXIST.
const NO_SAVEPOINT: u16 = 1305;

/// Opens a session with a snapshot. The database of the URL is the current one.
pub fn open(remote: &Remote, limits: ReadLimits) -> Result<Box<dyn ReadConnection>, Error> {
    let url = &remote.url;
    let target = target(url, database(url).as_deref())?;
    let mut conn = connect_with(&target, url)?;
    let (statement, lock) = (limits.statement_max, limits.lock_max);
    // MariaDB counts seconds, MySQL milliseconds.
    let limit = match remote.is_mysql() {
        true => format!("SET SESSION max_execution_time = {}", statement.as_millis()),
        false => format!("SET SESSION max_statement_time = {}", statement.as_secs()),
    };
    let lock = format!("SET SESSION lock_wait_timeout = {}", lock.as_secs().max(1));
    let texts = SETTINGS.iter().copied().chain([&*limit, &*lock, BEGIN]);
    for text in texts {
        conn.query_drop(text)
            .map_err(|error| url.error(format!("{text}: {}", Failure::from(error).message)))?;
    }
    Ok(Box::new(Reading {
        conn,
        target,
        is_open: true,
    }))
}

struct Reading {
    conn: Conn,
    target: Target,
    is_open: bool,
}

impl ReadConnection for Reading {
    /// Values are the bytes that the server sends, as UTF-8: binary columns are asked for by `HEX`.
    fn rows(&mut self, sql: &str) -> Result<TextRows, Error> {
        // Going back to it releases the metadata locks on the tables that were read.
        let answer: Result<Vec<Row>, mysql::Error> = self
            .conn
            .query_drop("SAVEPOINT one")
            .and_then(|()| self.conn.query(sql));
        let mut back = self.conn.query_drop("ROLLBACK TO SAVEPOINT one");
        if matches!(&back, Err(mysql::Error::MySqlError(error)) if error.code == NO_SAVEPOINT) {
            // A statement that commits by itself ended the transaction before it was refused.
            back = self.conn.query_drop(BEGIN);
        }
        self.is_open = back.is_ok();
        let rows = answer
            .and_then(|rows| back.map(|()| rows))
            .map_err(|error| Failure::from(error).doing("reading the server"))?;
        let text = |value: Value| match value {
            Value::NULL => None,
            Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            other => Some(other.as_sql(false)),
        };
        Ok(rows
            .into_iter()
            .map(|row| row.unwrap().into_iter().map(text).collect())
            .collect())
    }

    /// The rows are not buffered.
    fn stream(&mut self, sql: &str, each: EachRow<'_>) -> Result<(), Error> {
        let failed = |error: mysql::Error| Failure::from(error).doing(sql);
        let rows = self.conn.query_iter(sql).map_err(failed)?;
        for row in rows {
            let row = row.map_err(failed)?;
            let value = |at| match row.as_ref(at) {
                Some(Value::Bytes(bytes)) => Some(&**bytes),
                _ => None,
            };
            let values: Vec<Option<&[u8]>> = (0..row.len()).map(value).collect();
            if !each(&values) {
                break;
            }
        }
        Ok(())
    }

    fn is_open(&self) -> bool {
        self.is_open
    }

    fn cancel(&self) -> Cancel {
        let (target, id) = (self.target.clone(), self.conn.connection_id());
        Box::new(move || {
            let other = target.connect();
            _ = other.and_then(|mut conn| conn.query_drop(format!("KILL QUERY {id}")));
        })
    }
}
