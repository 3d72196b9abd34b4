//! Connections that write and read.

use super::{SCHEMA, SOCKET, database::failure, database::quoted};
use crate::{
    Batch, Error, Reader, Retry, Writer,
    server::{
        Server,
        sql::{Cell, cell, fits},
    },
};
use mysql::{Conn, OptsBuilder, Params, Statement, Value, prelude::Queryable as _};
use std::{ops::Range, sync::Arc};

/// A connection, and the server that lives as long as the last of them.
pub struct Session {
    pub conn: Conn,
    /// Never read: it ends when its last user is dropped.
    pub _server: Arc<Server>,
}

impl Session {
    /// Connects. Bytes are sent as they are, into whatever type of column.
    pub fn open(server: &Arc<Server>, enforces_foreign_keys: bool) -> Result<Self, Error> {
        let mut conn = connect(server, SCHEMA).map_err(|error| failure("connecting", &error))?;
        let checks = u8::from(enforces_foreign_keys);
        let set = format!("SET NAMES binary, foreign_key_checks = {checks}");
        conn.query_drop(&set)
            .map_err(|error| failure(&set, &error))?;
        Ok(Session {
            conn,
            _server: Arc::clone(server),
        })
    }

    fn run(&mut self, sql: &str) -> Result<(), Error> {
        self.conn
            .query_drop(sql)
            .map_err(|error| failure(sql, &error))
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement, Error> {
        if sql.trim().is_empty() {
            return Err(Error::Database {
                doing: sql.to_owned(),
                message: "there is no statement in this text".to_owned(),
            });
        }
        self.conn.prep(sql).map_err(|error| failure(sql, &error))
    }
}

/// Connects through the server's socket.
pub fn connect(server: &Server, schema: &str) -> Result<Conn, mysql::Error> {
    let socket = server.home.run.join(SOCKET);
    let options = OptsBuilder::new()
        .socket(Some(socket.to_string_lossy()))
        .user(Some("root"))
        .db_name(Some(schema).filter(|name| !name.is_empty()))
        .max_allowed_packet(Some(1 << 30));
    Conn::new(options)
}

/// The values of a row, as parameters.
fn parameters(batch: &Batch, row: usize) -> Params {
    if batch.columns.is_empty() {
        return Params::Empty;
    }
    let values = batch.columns.iter().map(|column| match cell(column, row) {
        Cell::Null => Value::NULL,
        Cell::Integer(integer) => Value::Int(integer),
        Cell::Real(real) => Value::Double(real),
        Cell::Text(bytes) | Cell::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    });
    Params::Positional(values.collect())
}

/// Inserts into one table.
pub struct MariaWriter {
    session: Session,
    insert: Statement,
    parameters: usize,
    table: String,
    is_open: bool,
}

impl MariaWriter {
    /// Prepares the insert. Writers wait for each other's rows alone: there is nothing to retry.
    pub fn open(
        mut session: Session,
        table: &str,
        columns: &[&str],
        _retry: Retry,
    ) -> Result<Self, Error> {
        let names: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
        let sql = format!(
            "INSERT INTO {}({}) VALUES({})",
            quoted(table),
            names.join(","),
            vec!["?"; columns.len()].join(",")
        );
        Ok(MariaWriter {
            insert: session.prepare(&sql)?,
            session,
            parameters: columns.len(),
            table: table.to_owned(),
            is_open: false,
        })
    }
}

impl Writer for MariaWriter {
    fn begin(&mut self) -> Result<(), Error> {
        self.session.run("BEGIN")?;
        self.is_open = true;
        Ok(())
    }

    fn insert(&mut self, batch: &Batch, rows: Range<usize>) -> Result<(), Error> {
        let doing = || format!("inserting into {}", self.table);
        fits(self.parameters, batch, rows.end).map_err(|message| Error::Database {
            doing: doing(),
            message,
        })?;
        for row in rows {
            let values = parameters(batch, row);
            let inserted = self.session.conn.exec_drop(&self.insert, values);
            inserted.map_err(|error| match of_the_row(&error) {
                Some(message) => Error::Row {
                    table: self.table.clone(),
                    row,
                    message,
                },
                None => failure(&doing(), &error),
            })?;
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.session.run("COMMIT")?;
        self.is_open = false;
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), Error> {
        if std::mem::take(&mut self.is_open) {
            self.session.run("ROLLBACK")?;
        }
        Ok(())
    }

    /// The server runs checkpoints by itself.
    fn checkpoint_if_due(&mut self) -> Result<bool, Error> {
        Ok(false)
    }

    fn retries(&self) -> u64 {
        0
    }
}

/// What is wrong with the row, where that is it: the classes 22 (data) and 23 (constraints) of
/// `SQLSTATE`, or a value that doesn't fit its type (1366).
fn of_the_row(error: &mysql::Error) -> Option<String> {
    let mysql::Error::MySqlError(told) = error else {
        return None;
    };
    let is_of_the_row =
        told.code == 1366 || told.state.starts_with("22") || told.state.starts_with("23");
    is_of_the_row.then(|| told.message.clone())
}

/// Runs one query again and again.
pub struct MariaReader {
    session: Session,
    query: Statement,
    sql: String,
}

impl MariaReader {
    /// Prepares the query.
    pub fn open(mut session: Session, sql: &str) -> Result<Self, Error> {
        Ok(MariaReader {
            query: session.prepare(sql)?,
            session,
            sql: sql.to_owned(),
        })
    }
}

impl Reader for MariaReader {
    fn query(&mut self, batch: &Batch, row: usize) -> Result<u64, Error> {
        let places = usize::from(self.query.num_params());
        fits(places, batch, row + usize::from(places > 0)).map_err(|message| Error::Database {
            doing: self.sql.clone(),
            message,
        })?;
        let values = parameters(batch, row);
        let read = || -> Result<u64, mysql::Error> {
            let mut rows = 0;
            for row in self.session.conn.exec_iter(&self.query, values)? {
                row?;
                rows += 1;
            }
            Ok(rows)
        };
        read().map_err(|error| failure(&self.sql, &error))
    }
}
