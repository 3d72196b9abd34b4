//! Tables of SQLite databases.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::choose::choose;
use super::statements::Statements;
use super::table::{self, Table};
use super::{Kind, Wanted};
use crate::Error;
use crate::database::{failed, open_database};
use crate::destination::{Create, Destination};
use crate::job::{Job, Progress, Summary, WriterChoice};
use crate::note::{Note, NoteKind};
use crate::pages::{self, PageWriter};
use crate::row_writer::{Choice, Proof, RowWriter, Sink, WritePlan};
use crate::rows::Batch;
use crate::schema::{Altered, Goal, Newcomers};

pub(super) const SINK: Kind = Kind {
    recognises: |_| true,
    open: |wanted| {
        let sink = SqliteSink::open(wanted)?;
        Ok(sink.map(|sink| Box::new(sink) as Box<dyn Sink>))
    },
};

struct SqliteSink {
    path: PathBuf,
    destination: Destination,
    created: Option<String>,
    completed: Option<String>,
    is_truncated: bool,
    altered: Vec<Altered>,
    is_new: bool,
    /// The schema version when the table was described.
    schema_version: i64,
    newcomers: Newcomers,
    /// The flags that only a table which is created has a use for.
    unused: Vec<&'static str>,
}

/// A database, as far as it is known before its table.
struct Found {
    path: PathBuf,
    is_new: bool,
    /// In memory, if it is new.
    connection: Connection,
    schema_version: i64,
}

impl Found {
    /// Opens the database, and waits until no other process writes if there is a timeout for that.
    fn open(to: &str, busy_timeout: Option<Duration>) -> Result<Self, Error> {
        let path = resolved(Path::new(to))?;
        let is_new = !path.exists();
        check_place(&path, is_new)?;
        let connection = match is_new {
            true => inorder_sqlite::open_in_memory(),
            false => open_database(&path, OpenFlags::SQLITE_OPEN_READ_WRITE),
        };
        let connection = connection.map_err(failed(&path))?;
        let number = |pragma: &str| connection.query_row(pragma, [], |row| row.get(0));
        let schema_version = number("PRAGMA main.schema_version");
        let schema_version = schema_version.map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => no_database(&path),
            _ => failed(&path)(error),
        })?;
        if let (Some(timeout), false) = (busy_timeout, is_new) {
            wait_for_lock(&connection, &path, timeout)?;
        }
        Ok(Found {
            path,
            is_new,
            connection,
            schema_version,
        })
    }
}

impl SqliteSink {
    fn open(wanted: &Wanted<'_>) -> Result<Option<Self>, Error> {
        let Found {
            path,
            is_new,
            connection,
            schema_version,
        } = Found::open(wanted.to, wanted.busy_timeout)?;
        if is_new && wanted.create.is_none() {
            return Err(Error::Refused {
                what: format!(
                    "there is no database {}; --create creates it together with the table",
                    path.display()
                ),
            });
        }
        let Some(Table {
            destination,
            created,
            completed,
            is_truncated,
            altered,
        }) = table::open(&connection, &path, wanted)?
        else {
            return Ok(None);
        };
        let unused = match (&created, wanted.create) {
            (None, Some(create)) => unused(create, !altered.is_empty()),
            _ => Vec::new(),
        };
        Ok(Some(SqliteSink {
            path,
            unused,
            created,
            completed,
            is_truncated,
            altered,
            is_new,
            schema_version,
            newcomers: Newcomers::of(
                wanted.sample,
                &destination,
                wanted.input_bytes,
                wanted.is_sample_whole,
            ),
            destination,
        }))
    }
}

/// A sink for a table that these statements create, with its indexes.
///
/// # Errors
/// If the database can't be opened, or the statements can't be executed there.
pub(crate) fn open_created(job: &Job, statements: &str) -> Result<Box<dyn Sink>, Error> {
    let found = Found::open(&job.to, Some(job.busy_timeout))?;
    let destination = table::tried(&found.connection, &found.path, &job.table, statements)?;
    Ok(Box::new(SqliteSink {
        path: found.path,
        destination,
        created: Some(statements.to_owned()),
        completed: None,
        is_truncated: false,
        altered: Vec::new(),
        is_new: found.is_new,
        schema_version: found.schema_version,
        newcomers: Newcomers::default(),
        unused: Vec::new(),
    }))
}

/// Checks that the path can be that of a database. The file is not opened: to close it would give up the locks that the
/// process has on it.
fn check_place(path: &Path, is_new: bool) -> Result<(), Error> {
    /// The size of the smallest page. SQLite takes some files of fewer bytes for empty databases.
    const BYTES_MIN: u64 = 512;
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    match folder {
        Some(folder) if is_new && !folder.is_dir() => Err(Error::Refused {
            what: format!(
                "{}: there is no folder {}; create it first",
                path.display(),
                folder.display()
            ),
        }),
        _ => match path.metadata().map_or(0, |metadata| metadata.len()) {
            1..BYTES_MIN => Err(no_database(path)),
            _ => Ok(()),
        },
    }
}

fn no_database(path: &Path) -> Error {
    Error::Refused {
        what: format!(
            "{} is not a SQLite database; the inputs come first, and the database last",
            path.display()
        ),
    }
}

/// Waits until no other process writes: a load that would have to wait after it has read its rows waits before.
fn wait_for_lock(connection: &Connection, path: &Path, timeout: Duration) -> Result<(), Error> {
    connection.busy_timeout(timeout).map_err(failed(path))?;
    match connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK") {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
            Err(Error::Refused {
                what: format!(
                    "{}: another process is writing to the database, and did not end within {} s (--busy-timeout)",
                    path.display(),
                    timeout.as_secs_f64()
                ),
            })
        }
        other => other.map_err(failed(path)),
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
            completed: self.completed.as_deref(),
            is_truncated: self.is_truncated,
            altered: &self.altered,
            destination: &self.destination,
            newcomers: &self.newcomers,
        })
    }
}

impl Sink for SqliteSink {
    fn destination(&self) -> &Destination {
        &self.destination
    }

    fn created(&self) -> Option<String> {
        let statements = [self.created.as_deref(), self.completed.as_deref()];
        let statements: Vec<&str> = statements.into_iter().flatten().collect();
        (!statements.is_empty()).then(|| statements.join(";\n"))
    }

    fn notes(&self) -> Vec<Note> {
        let note = |altered: &Altered| {
            let text = format!("added a column: {}", altered.sql);
            Note::new(NoteKind::ColumnAdded, text).of_column(&altered.column)
        };
        let mut notes: Vec<Note> = self.altered.iter().map(note).collect();
        if !self.unused.is_empty() {
            let text = format!(
                "the table {} exists, so {} had no effect; --replace-table creates it again",
                self.destination.table,
                self.unused.join(", ")
            );
            notes.push(Note::new(NoteKind::FlagUnused, text));
        }
        notes
    }

    fn is_database_new(&self) -> bool {
        self.is_new
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
        let mut why_not_merged = None;
        if plan.writes_pages {
            let begin =
                |goal: &Goal<'_>| PageWriter::begin(goal, self.schema_version, plan, progress);
            match self.with_goal(begin)? {
                Ok(writer) => return Ok(Box::new(writer)),
                Err(why) if plan.job.writer == WriterChoice::Direct => {
                    let table = &plan.destination.table;
                    return Err(Error::Refused {
                        what: format!(
                            "{table} can't be written directly: it already has rows, and {why}"
                        ),
                    });
                }
                Err(why) => why_not_merged = Some(why),
            }
        }
        if self.is_new {
            // Only a file of this load is removed if it fails.
            pages::create_database(&self.path)?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let connection = open_database(&self.path, flags).map_err(failed(&self.path))?;
        let mut writer = Statements::begin(connection, &self.path, self.is_new, plan, progress)?;
        self.with_goal(|goal| writer.prepare(self.schema_version, goal, plan))?;
        Ok(match why_not_merged {
            Some(why) => Box::new(Unmerged { writer, why }),
            None => Box::new(writer),
        })
    }
}

/// The flags of a table to create, where the table exists.
fn unused(create: &Create, is_altered: bool) -> Vec<&'static str> {
    let given = [
        ("--key", !create.key.is_empty()),
        // Columns that are added have types.
        ("--type", !create.types.is_empty() && !is_altered),
        ("--index", !create.indexes.is_empty()),
        ("--foreign-key", !create.foreign_keys.is_empty()),
    ];
    let given = given.into_iter().filter(|(_, is_given)| *is_given);
    given.map(|(flag, _)| flag).collect()
}

/// Inserts rows that could not be merged after all.
struct Unmerged {
    writer: Statements,
    why: String,
}

impl RowWriter for Unmerged {
    fn name(&self) -> &'static str {
        self.writer.name()
    }

    fn write(&mut self, batch: &mut Batch<'_>) -> Result<u64, Error> {
        self.writer.write(batch)
    }

    fn finish(
        self: Box<Self>,
        summary: &mut Summary,
        proof: Option<Proof<'_>>,
    ) -> Result<(), Error> {
        summary.why_not_direct = Some(format!("it already has rows, and {}", self.why));
        Box::new(self.writer).finish(summary, proof)
    }
}
