//! Connections that write and read.

use super::{SCHEMA, SOCKET, database::failure, database::quoted};
use crate::batch::Cell;
use crate::{
    Batch, Error, Reader, Write, Writer,
    server::{Server, sql},
};
use mysql::{
    Conn, LocalInfileHandler, OptsBuilder, Params, Statement, Value, prelude::Queryable as _,
};
use std::{io::Write as _, ops::Range, sync::Arc};

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

/// The values of rows, as parameters.
fn parameters(batch: &Batch, rows: Range<usize>) -> Params {
    if batch.columns.is_empty() {
        return Params::Empty;
    }
    let values = sql::cells(batch, rows).map(|cell| match cell {
        Cell::Null => Value::NULL,
        Cell::Integer(integer) => Value::Int(integer),
        Cell::Real(real) => Value::Double(real),
        Cell::Text(bytes) | Cell::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    });
    Params::Positional(values.collect())
}

/// Rows as LOAD DATA reads them: a line each, tabs between values, `\` before what isn't itself.
fn lines(batch: &Batch, rows: Range<usize>) -> Vec<u8> {
    let mut out = Vec::new();
    for row in rows {
        for (at, cell) in sql::cells(batch, row..row + 1).enumerate() {
            if at > 0 {
                out.push(b'\t');
            }
            match cell {
                Cell::Null => out.extend_from_slice(b"\\N"),
                Cell::Integer(integer) => out.extend_from_slice(integer.to_string().as_bytes()),
                Cell::Real(real) => out.extend_from_slice(real.to_string().as_bytes()),
                Cell::Text(bytes) | Cell::Blob(bytes) => {
                    for &byte in bytes {
                        match byte {
                            0 => out.extend_from_slice(b"\\0"),
                            b'\t' | b'\n' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
                            _ => out.push(byte),
                        }
                    }
                }
            }
        }
        out.push(b'\n');
    }
    out
}

/// Inserts into one table.
pub struct MariaWriter {
    session: Session,
    insert: Statement,
    /// The statement for many rows, and how many; nothing where rows go one by one.
    many: Option<(Statement, usize)>,
    /// The LOAD DATA of rows, where that is how they go.
    load: Option<String>,
    columns: usize,
    table: String,
    is_open: bool,
}

impl MariaWriter {
    /// Prepares the insert. Writers wait for each other's rows alone: there is nothing to retry.
    pub fn open(
        mut session: Session,
        table: &str,
        columns: &[&str],
        write: Write,
    ) -> Result<Self, Error> {
        let into = quoted(table);
        let names: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
        let together = sql::rows_together(columns.len());
        let has_values = !columns.is_empty();
        let load = format!(
            "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {into} CHARACTER SET binary ({})",
            names.join(",")
        );
        Ok(MariaWriter {
            insert: session.prepare(&sql::insert_into(&into, &names, 1))?,
            many: match write {
                Write::Multi if has_values => {
                    let many = session.prepare(&sql::insert_into(&into, &names, together))?;
                    Some((many, together))
                }
                _ => None,
            },
            load: Some(load).filter(|_| write == Write::Bulk && has_values),
            session,
            columns: columns.len(),
            table: table.to_owned(),
            is_open: false,
        })
    }

    /// Sends rows as a file. The server can't stop it half-way, so it passes over rows that break a
    /// constraint: that is seen in how many it stored.
    fn load(&mut self, load: &str, batch: &Batch, rows: Range<usize>) -> Result<(), Error> {
        let wanted = rows.len() as u64;
        let lines = lines(batch, rows);
        let conn = &mut self.session.conn;
        conn.set_local_infile_handler(Some(LocalInfileHandler::new(move |_, file| {
            file.write_all(&lines)
        })));
        let loaded = conn.query_drop(load);
        conn.set_local_infile_handler(None);
        loaded.map_err(|error| failure(load, &error))?;
        match conn.affected_rows() {
            stored if stored == wanted => Ok(()),
            stored => Err(Error::Database {
                doing: load.to_owned(),
                message: format!(
                    "{stored} of {wanted} rows were stored: the others break a constraint"
                ),
            }),
        }
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
        sql::fits(self.columns, batch, rows.end).map_err(|message| Error::Database {
            doing: doing(),
            message,
        })?;
        if let Some(load) = self.load.clone() {
            return self.load(&load, batch, rows);
        }
        let mut rows = rows;
        if let Some((many, together)) = &self.many {
            while rows.len() >= *together {
                let next = rows.start..rows.start + together;
                let values = parameters(batch, next.clone());
                let inserted = self.session.conn.exec_drop(many, values);
                inserted.map_err(|error| failure(&doing(), &error))?;
                rows.start = next.end;
            }
        }
        for row in rows {
            let values = parameters(batch, row..row + 1);
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
        sql::fits(places, batch, row + usize::from(places > 0)).map_err(|message| {
            Error::Database {
                doing: self.sql.clone(),
                message,
            }
        })?;
        let values = parameters(batch, row..row + 1);
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
