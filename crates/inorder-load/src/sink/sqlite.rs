//! Tables of SQLite databases.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::choose::choose;
use super::statements::Statements;
use super::{Kind, Wanted};
use crate::Error;
use crate::database::{failed, open_database};
use crate::destination::{Destination, describe};
use crate::job::{Job, Progress};
use crate::pages::{self, PageWriter};
use crate::row_writer::{Choice, RowWriter, Sink, WritePlan};
use crate::schema::Goal;

pub(super) const SINK: Kind = Kind {
    recognises: |_| true,
    open: |wanted| Ok(Box::new(SqliteSink::open(wanted)?)),
};

struct SqliteSink {
    path: PathBuf,
    destination: Destination,
    created: Option<String>,
    is_new: bool,
    /// The schema version when the table was described.
    schema_version: i64,
}

impl SqliteSink {
    fn open(wanted: &Wanted<'_>) -> Result<Self, Error> {
        let path = resolved(Path::new(wanted.to))?;
        let is_new = !path.exists();
        if is_new && wanted.create.is_none() {
            return Err(Error::Refused {
                what: format!(
                    "there is no database {}; --create creates it together with the table",
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
        Ok(SqliteSink {
            path,
            destination,
            created,
            is_new,
            schema_version,
        })
    }
}

/// Resolves the symbolic links of a path, whether the file exists or not. Like SQLite, the loader puts temporary files
/// beside the file and not beside the link.
fn resolved(path: &Path) -> Result<PathBuf, Error> {
    /// The most links that a system follows.
    const LINKS_MAX: usize = 40;
    let refused = |what: &str| Error::Refused {
        what: format!("{}: {what}", path.display()),
    };
    let mut file = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(to) = file.read_link() else {
            return match file.metadata() {
                Ok(metadata) if !metadata.is_file() => Err(refused(
                    "it is not a regular file; name a database, or a file that does not exist yet",
                )),
                _ => Ok(file),
            };
        };
        file = match file.parent() {
            Some(folder) => folder.join(to),
            None => to,
        };
    }
    Err(refused("it is a symbolic link to itself"))
}

/// Describes the table that a statement would create.
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

impl SqliteSink {
    /// Calls `with` with the table and its database, if it exists.
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

impl Sink for SqliteSink {
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
        self.with_goal(|goal| choose(goal, given, job))
    }

    fn writer(
        self: Box<Self>,
        plan: &WritePlan<'_>,
        progress: &Progress,
    ) -> Result<Box<dyn RowWriter>, Error> {
        if plan.writes_pages {
            let begin =
                |goal: &Goal<'_>| PageWriter::begin(goal, self.schema_version, plan, progress);
            return Ok(Box::new(self.with_goal(begin)?));
        }
        if self.is_new {
            // Only a file of this load is removed if it fails.
            pages::create_database(&self.path)?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let connection = open_database(&self.path, flags).map_err(failed(&self.path))?;
        let writer = Statements::begin(connection, &self.path, self.is_new, plan)?;
        writer.prepare(self.schema_version, self.created.as_deref())?;
        Ok(Box::new(writer))
    }
}
