//! A table of a SQLite database.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::statements::Statements;
use super::{Choice, Kind, RowWriter, Target, Wanted, WritePlan};
use crate::Error;
use crate::destination::{Destination, describe};
use crate::load::Job;
use crate::pages::{self, Direct, Goal};
use crate::sql::quoted;

pub(super) const TARGET: Kind = Kind {
    name: "SQLite",
    recognises: |_| true,
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
        let path = resolved(Path::new(wanted.to))?;
        let is_new = !path.exists();
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

/// The file that a path leads to, whether it is there or not. As with SQLite, a link is followed, and what is
/// put beside a database is put beside the file.
fn resolved(path: &Path) -> Result<PathBuf, Error> {
    /// What systems follow at most.
    const LINKS_MAX: usize = 40;
    let refused = |what: &str| Error::Refused {
        what: format!("{}: {what}", path.display()),
    };
    let mut file = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(to) = file.read_link() else {
            return match file.metadata() {
                Ok(metadata) if !metadata.is_file() => Err(refused(
                    "it is no regular file; name a database, or a file that isn't there yet",
                )),
                _ => Ok(file),
            };
        };
        file = match file.parent() {
            Some(folder) => folder.join(to),
            None => to,
        };
    }
    Err(refused("it is a link that leads to itself"))
}

/// The table that a statement would make.
fn tried(
    connection: &Connection,
    path: &Path,
    table: &str,
    sql: &str,
) -> Result<Destination, Error> {
    let failed = failed(path);
    connection.execute_batch("BEGIN").map_err(&failed)?;
    let made = connection
        .execute_batch(sql)
        .map_err(&failed)
        .and_then(|()| describe(connection, path, table));
    connection.execute_batch("ROLLBACK").map_err(&failed)?;
    made
}

pub(crate) fn failed(path: &Path) -> impl Fn(rusqlite::Error) -> Error {
    let path = path.to_owned();
    move |source| {
        let path = path.clone();
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Error::Full { path },
            _ => Error::Database { path, source },
        }
    }
}

/// Opens a database, with the SQL functions of this project, patient with locks.
pub(crate) fn open_database(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY)?;
    inorder_sqlite::register(&connection)?;
    Ok(connection)
}

/// Checks that the schema is what it was when it was read.
///
/// # Errors
/// Where it isn't.
pub(crate) fn check_schema(
    connection: &Connection,
    path: &Path,
    schema_version: i64,
) -> Result<(), Error> {
    let version = "PRAGMA main.schema_version";
    let now: i64 = connection
        .query_row(version, [], |row| row.get(0))
        .map_err(failed(path))?;
    if now == schema_version {
        return Ok(());
    }
    Err(Error::Refused {
        what: format!(
            "{}: the schema was changed while rows were read; run it again",
            path.display()
        ),
    })
}

/// Rows of a table whose foreign keys lead nowhere, in words; the first few.
pub(crate) fn orphans(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    const TOLD_MAX: usize = 5;
    let check = format!("PRAGMA main.foreign_key_check({})", quoted(table));
    let mut statement = connection.prepare(&check)?;
    let orphans = statement.query_map([], |row| {
        let rowid: Option<i64> = row.get(1)?;
        let parent: String = row.get(2)?;
        let row = rowid.map_or("a row".to_owned(), |rowid| format!("row {rowid}"));
        Ok(format!("{row} of {table} has no parent in {parent}"))
    })?;
    orphans.take(TOLD_MAX).collect()
}

impl SqliteTarget {
    /// Calls `with` with the table and, where there is one, the database.
    fn with_goal<T>(&self, with: impl FnOnce(&Goal<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let database = match self.is_new {
            true => None,
            false => Some(open_database(&self.path, flags).map_err(failed(&self.path))?),
        };
        with(&Goal {
            path: &self.path,
            database: database.as_ref(),
            created: self.created.as_deref(),
            destination: &self.destination,
        })
    }
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

    fn choose(&self, given: &[usize], job: &Job) -> Result<Choice, Error> {
        self.with_goal(|goal| pages::choose(goal, given, job))
    }

    fn writer(self: Box<Self>, plan: &WritePlan<'_>) -> Result<Box<dyn RowWriter>, Error> {
        if plan.is_direct {
            let writer = self.with_goal(|goal| Direct::begin(goal, self.schema_version, plan))?;
            return Ok(Box::new(writer));
        }
        if self.is_new {
            // What is removed should it fail is this load's own.
            pages::create_database(&self.path)?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let connection = open_database(&self.path, flags).map_err(failed(&self.path))?;
        let writer = Statements::begin(connection, &self.path, self.is_new, plan)?;
        writer.prepare(self.schema_version, self.created.as_deref())?;
        Ok(Box::new(writer))
    }
}
