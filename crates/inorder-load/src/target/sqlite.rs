//! A table of a SQLite database.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::statements::Statements;
use super::{Choice, Kind, RowWriter, Target, Wanted, WritePlan, WriterChoice};
use crate::Error;
use crate::destination::{Destination, describe};
use crate::load::Job;

pub(super) const TARGET: Kind = Kind {
    name: "SQLite",
    recognises: |to| !to.contains("://"),
    open: |wanted| Ok(Box::new(SqliteTarget::open(wanted)?)),
};

/// How long a lock of somebody else is waited for.
const BUSY: Duration = Duration::from_secs(10);

struct SqliteTarget {
    path: PathBuf,
    destination: Destination,
    created: Option<String>,
    is_new: bool,
    /// What the schema was when it was described.
    schema_version: i64,
}

impl SqliteTarget {
    fn open(wanted: &Wanted<'_>) -> Result<Self, Error> {
        let path = PathBuf::from(wanted.to);
        let is_new = !path.exists() || path.metadata().is_ok_and(|metadata| metadata.len() == 0);
        if is_new && wanted.create.is_none() {
            return Err(Error::Refused {
                what: format!(
                    "there is no database {}; --create makes it, with a table for what is loaded",
                    path.display()
                ),
            });
        }
        let connection = match is_new {
            true => Connection::open_in_memory(),
            false => open_database(&path, OpenFlags::SQLITE_OPEN_READ_WRITE),
        };
        let connection = connection.map_err(failed(&path))?;
        let number = |pragma: &str| connection.query_row(pragma, [], |row| row.get(0));
        let schema_version = number("PRAGMA main.schema_version").map_err(failed(&path))?;
        let created = wanted
            .create
            .map(|create| create.sql(wanted.table, wanted.sample));
        let created = created.transpose()?;
        let mut destination = match &created {
            Some(sql) => tried(&connection, &path, wanted.table, sql)?,
            None => describe(&connection, &path, wanted.table)?,
        };
        if let Some(create) = wanted.create {
            for column in &mut destination.columns {
                column.is_guessed = create.is_guessed(&column.name);
            }
        }
        Ok(SqliteTarget {
            path,
            destination,
            created,
            is_new,
            schema_version,
        })
    }
}

/// The table that a statement would make.
fn tried(
    connection: &Connection,
    path: &Path,
    table: &str,
    sql: &str,
) -> Result<Destination, Error> {
    let failed = failed(path);
    connection.execute_batch("SAVEPOINT try").map_err(&failed)?;
    let made = connection
        .execute_batch(sql)
        .map_err(&failed)
        .and_then(|()| describe(connection, path, table));
    connection
        .execute_batch("ROLLBACK TO try; RELEASE try")
        .map_err(&failed)?;
    made
}

pub(super) fn failed(path: &Path) -> impl Fn(rusqlite::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Database {
        path: path.clone(),
        source,
    }
}

/// Opens a database, with the SQL functions of this project, patient with locks.
fn open_database(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY)?;
    inorder_sqlite::register(&connection)?;
    Ok(connection)
}

impl Target for SqliteTarget {
    fn destination(&self) -> &Destination {
        &self.destination
    }

    fn created(&self) -> Option<&str> {
        self.created.as_deref()
    }

    fn spill_folder(&self) -> PathBuf {
        match self.path.parent() {
            Some(parent) if parent != Path::new("") => parent.to_owned(),
            _ => PathBuf::from("."),
        }
    }

    fn choose(&self, _given: &[usize], job: &Job) -> Result<Choice, Error> {
        match job.writer {
            WriterChoice::Direct => Err(Error::Refused {
                what: "no direct writer".to_owned(),
            }),
            _ => Ok(Choice::default()),
        }
    }

    fn writer(self: Box<Self>, plan: &WritePlan<'_>) -> Result<Box<dyn RowWriter>, Error> {
        let failed = failed(&self.path);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection = open_database(&self.path, flags).map_err(&failed)?;
        let writer = Statements::begin(connection, &self.path, self.is_new, plan)?;
        writer.prepare(self.schema_version, self.created.as_deref())?;
        Ok(Box::new(writer))
    }
}
