//! Connections that write and read.

use super::{NAME, SUPERUSER, database::failure};
use crate::batch::Cell;
use crate::{
    Batch, Error, Reader, Write, Writer,
    server::{
        Server,
        sql::{self, numbered},
    },
};
use postgres::{Client, Config, NoTls, Statement, binary_copy::BinaryCopyInWriter, types::ToSql};
use std::{ops::Range, sync::Arc};

/// A connection, and the server that lives as long as the last of them.
pub struct Session {
    pub client: Client,
    /// Never read: it ends when its last user is dropped.
    pub _server: Arc<Server>,
}

impl Session {
    /// Connects. `enforces_foreign_keys` is of this connection alone.
    pub fn open(server: &Arc<Server>, enforces_foreign_keys: bool) -> Result<Self, Error> {
        let client = connect(server).map_err(|error| failure("connecting", &error))?;
        let mut session = Session {
            client,
            _server: Arc::clone(server),
        };
        if !enforces_foreign_keys {
            // Their triggers are of the origin: a replica's writes were checked there.
            session.run("SET session_replication_role = replica")?;
        }
        Ok(session)
    }

    /// Runs statements that return nothing.
    pub fn run(&mut self, sql: &str) -> Result<(), Error> {
        self.client
            .batch_execute(sql)
            .map_err(|error| failure(sql, &error))
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement, Error> {
        if sql.trim().is_empty() {
            return Err(Error::Database {
                doing: sql.to_owned(),
                message: "there is no statement in this text".to_owned(),
            });
        }
        let prepared = self.client.prepare(&numbered(sql));
        prepared.map_err(|error| failure(sql, &error))
    }
}

/// Connects through the server's socket.
pub fn connect(server: &Server) -> Result<Client, postgres::Error> {
    Config::new()
        .host_path(&server.home.run)
        .user(SUPERUSER)
        .dbname("postgres")
        .application_name(NAME)
        .connect(NoTls)
}

/// Values as parameters.
fn parameters<'a>(cells: &'a [Cell<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    cells.iter().map(|cell| cell as _).collect()
}

/// Inserts into one table.
pub struct PostgresWriter {
    session: Session,
    insert: Statement,
    /// The statement for many rows, and how many; nothing where rows go one by one.
    many: Option<(Statement, usize)>,
    /// The COPY of rows, where that is how they go.
    copy: Option<String>,
    columns: usize,
    table: String,
    is_open: bool,
}

impl PostgresWriter {
    /// Prepares the insert. Writers don't lock each other out: there is nothing to retry.
    pub fn open(
        mut session: Session,
        table: &str,
        columns: &[&str],
        write: Write,
    ) -> Result<Self, Error> {
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let into = quoted(table);
        let names: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
        let insert = match columns {
            [] => format!("INSERT INTO {into} DEFAULT VALUES"),
            _ => sql::insert_into(&into, &names, 1),
        };
        let insert = session.prepare(&insert)?;
        let together = sql::rows_together(columns.len());
        let has_values = !columns.is_empty();
        Ok(PostgresWriter {
            insert,
            many: match write {
                Write::Multi if has_values => {
                    let many = session.prepare(&sql::insert_into(&into, &names, together))?;
                    Some((many, together))
                }
                _ => None,
            },
            copy: (write == Write::Bulk && has_values)
                .then(|| format!("COPY {into}({}) FROM STDIN BINARY", names.join(","))),
            session,
            columns: columns.len(),
            table: table.to_owned(),
            is_open: false,
        })
    }

    /// Copies rows in the binary format.
    fn copy(&mut self, copy: &str, batch: &Batch, rows: Range<usize>) -> Result<(), Error> {
        let types = self.insert.params().to_vec();
        let all = || -> Result<(), postgres::Error> {
            let sink = self.session.client.copy_in(copy)?;
            let mut sink = BinaryCopyInWriter::new(sink, &types);
            for row in rows {
                let cells: Vec<Cell<'_>> = sql::cells(batch, row..row + 1).collect();
                sink.write(&parameters(&cells))?;
            }
            sink.finish().map(drop)
        };
        all().map_err(|error| failure(copy, &error))
    }
}

impl Writer for PostgresWriter {
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
        if let Some(copy) = self.copy.clone() {
            return self.copy(&copy, batch, rows);
        }
        let mut rows = rows;
        if let Some((many, together)) = &self.many {
            while rows.len() >= *together {
                let next = rows.start..rows.start + together;
                let cells: Vec<Cell<'_>> = sql::cells(batch, next.clone()).collect();
                let inserted = self.session.client.execute(many, &parameters(&cells));
                inserted.map_err(|error| failure(&doing(), &error))?;
                rows.start = next.end;
            }
        }
        for row in rows {
            let cells: Vec<Cell<'_>> = sql::cells(batch, row..row + 1).collect();
            let inserted = self
                .session
                .client
                .execute(&self.insert, &parameters(&cells));
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
/// <https://www.postgresql.org/docs/15/errcodes-appendix.html>, or a value that doesn't fit its type.
fn of_the_row(error: &postgres::Error) -> Option<String> {
    let Some(told) = error.as_db_error() else {
        return std::error::Error::source(error)
            .filter(|_| !error.is_closed())
            .map(ToString::to_string);
    };
    let is_of_the_row = ["22", "23"].contains(&&told.code().code()[..2]);
    let detail = told.detail().map(|detail| format!(": {detail}"));
    is_of_the_row.then(|| format!("{}{}", told.message(), detail.unwrap_or_default()))
}

/// Runs one query again and again.
pub struct PostgresReader {
    session: Session,
    query: Statement,
    sql: String,
}

impl PostgresReader {
    /// Prepares the query.
    pub fn open(mut session: Session, sql: &str) -> Result<Self, Error> {
        Ok(PostgresReader {
            query: session.prepare(sql)?,
            session,
            sql: sql.to_owned(),
        })
    }
}

impl Reader for PostgresReader {
    fn query(&mut self, batch: &Batch, row: usize) -> Result<u64, Error> {
        let places = self.query.params().len();
        sql::fits(places, batch, row + usize::from(places > 0)).map_err(|message| {
            Error::Database {
                doing: self.sql.clone(),
                message,
            }
        })?;
        let cells: Vec<Cell<'_>> = sql::cells(batch, row..row + 1).collect();
        let rows = self.session.client.query(&self.query, &parameters(&cells));
        rows.map(|rows| rows.len() as u64)
            .map_err(|error| failure(&self.sql, &error))
    }
}
