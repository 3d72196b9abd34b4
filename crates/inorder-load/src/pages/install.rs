//! Copies a built table into an existing database.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _};

use super::aside::{Aside, folder};
use crate::Error;
use crate::database::{check_schema, failed, open_database, orphans};
use crate::disk_space;
use crate::job::Progress;
use crate::row_writer::Proof;
use crate::sql::quoted;

/// The page cache while SQLite creates an index of a built table, in KiB.
const CACHE_KIB: i64 = 1 << 18;

/// The most bytes of the built file that are memory-mapped while it is copied: SQLite's maximum.
const MAPPED_BYTES: i64 = 0x7fff_0000;

/// The interval at which cancellation is checked while SQLite works.
const LOOKS_EVERY: std::time::Duration = std::time::Duration::from_millis(100);

/// Runs statements on a built file before it becomes visible, such as those of indexes on expressions.
///
/// # Errors
/// The error of SQLite, or [`Error::Stopped`].
pub(super) fn run_after(
    aside: &Aside,
    statements: &[String],
    progress: &Progress,
) -> Result<(), Error> {
    if statements.is_empty() {
        return Ok(());
    }
    let run = || -> rusqlite::Result<()> {
        let connection = open_database(aside.path(), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // The temporary file need not survive a power failure: a repeated load builds it again.
        connection.execute_batch(&format!(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -{CACHE_KIB}"
        ))?;
        interruptible(&connection, progress, || {
            statements
                .iter()
                .try_for_each(|statement| connection.execute_batch(statement))
        })
    };
    run().map_err(|error| stopped_or(progress, failed(aside.path())(error)))
}

/// Lets a proof read a built file before it becomes visible.
///
/// # Errors
/// Those of the proof.
pub(super) fn prove_new(aside: &Aside, proof: Option<Proof<'_>>) -> Result<(), Error> {
    let Some(proof) = proof else {
        return Ok(());
    };
    let connection = open_database(aside.path(), OpenFlags::SQLITE_OPEN_READ_WRITE);
    proof(&connection.map_err(failed(aside.path()))?)
}

/// Runs the statements after the rows in a transaction of a connection.
///
/// # Errors
/// The error of SQLite, or [`Error::Stopped`].
pub(crate) fn complete(
    connection: &Connection,
    path: &Path,
    statements: &str,
    progress: &Progress,
) -> Result<(), Error> {
    let run = || {
        connection.pragma_update(Some("main"), "cache_size", -CACHE_KIB)?;
        interruptible(connection, progress, || {
            connection.execute_batch(statements)
        })
    };
    run().map_err(|error| stopped_or(progress, failed(path)(error)))
}

/// The copy of a built table into a database.
pub(super) struct Takeover {
    pub(super) path: PathBuf,
    pub(super) table: String,
    /// The statements that create or empty the table; `None` if it is there and empty.
    pub(super) first_statements: Option<String>,
    /// The statements after the rows.
    pub(super) completed: Option<String>,
    /// The schema version when the table was described.
    pub(super) schema_version: i64,
    /// The largest rowid that an AUTOINCREMENT table had had when rows were given theirs.
    pub(super) sequence: Option<i64>,
    /// Whether each row must have its parents.
    pub(super) checks_parents: bool,
}

impl Takeover {
    /// Copies the table in one transaction.
    ///
    /// Between tables of equal schemas, SQLite copies cell by cell, including indexes, without decoding them
    /// (<https://www.sqlite.org/src/file?name=src/insert.c>, `xferOptimization`).
    ///
    /// # Errors
    /// If the database was changed meanwhile or is locked, a foreign key is violated, or SQLite fails. The database is
    /// then as it was.
    pub(super) fn run(
        &self,
        aside: &Aside,
        progress: &Progress,
        proof: Option<Proof<'_>>,
    ) -> Result<(), Error> {
        let failed = failed(&self.path);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let connection = open_database(&self.path, flags).map_err(&failed)?;
        let bytes = aside.path().metadata().map_or(0, |metadata| metadata.len());
        disk_space::check(folder(&self.path), bytes)?;
        let other = aside.path().to_string_lossy();
        connection
            .execute("ATTACH ?1 AS inorder_load", [&*other])
            .map_err(&failed)?;
        // Nobody else has the file: it is read where the system keeps it, without a call and a copy a page.
        connection
            .pragma_update(Some("inorder_load"), "mmap_size", MAPPED_BYTES)
            .map_err(&failed)?;
        // Foreign keys are checked all at once in the end. With two journals, SQLite would tie them together by
        // a third file, which a kill leaves behind (<https://www.sqlite.org/atomiccommit.html#multi_file_commit>).
        connection
            .execute_batch(
                "PRAGMA foreign_keys = OFF; PRAGMA inorder_load.journal_mode = OFF; BEGIN IMMEDIATE",
            )
            .map_err(&failed)?;
        self.copy(&connection, progress)?;
        if let Some(completed) = &self.completed {
            complete(&connection, &self.path, completed, progress)?;
        }
        if let Some(proof) = proof {
            proof(&connection)?;
        }
        // Closing the connection rolls back everything before the commit.
        connection.execute_batch("COMMIT").map_err(&failed)
    }

    fn copy(&self, connection: &Connection, progress: &Progress) -> Result<(), Error> {
        let failed = failed(&self.path);
        check_schema(connection, &self.path, self.schema_version)?;
        let table = quoted(&self.table);
        if let Some(first) = &self.first_statements {
            connection.execute_batch(first).map_err(&failed)?;
        }
        let has_rows = |schema: &str| -> Result<bool, Error> {
            let any = format!("SELECT EXISTS (SELECT 1 FROM {schema}.{table})");
            connection
                .query_row(&any, [], |row| row.get(0))
                .map_err(&failed)
        };
        let sequence = match self.sequence {
            None => None,
            Some(_) => Some(largest_rowid(connection, &self.table).map_err(&failed)?),
        };
        // Rows that were there and are gone have taken rowids.
        if has_rows("main")? || sequence != self.sequence {
            return Err(received_rows(&self.path, &self.table));
        }
        if !has_rows("inorder_load")? {
            // To copy none would still note an AUTOINCREMENT table in sqlite_sequence.
            return Ok(());
        }
        let copy = format!("INSERT INTO main.{table} SELECT * FROM inorder_load.{table}");
        interruptible(connection, progress, || connection.execute_batch(&copy))
            .map_err(|error| stopped_or(progress, failed(error)))?;
        match self.checks_parents {
            true => refuse_orphans(connection, &self.path, &self.table),
            false => Ok(()),
        }
    }
}

/// Checks that SQLite sees the rows of a table whose pages were replaced in this transaction.
///
/// # Errors
/// If it doesn't.
pub(super) fn check_seen(connection: &Connection, path: &Path, table: &str) -> Result<(), Error> {
    // SQLite may look at an index: it has no entries either if there were no rows to be seen.
    let any = format!("SELECT EXISTS (SELECT 1 FROM main.{})", quoted(table));
    let is_seen = connection.query_row(&any, [], |row| row.get(0));
    match is_seen.map_err(failed(path))? {
        true => Ok(()),
        false => Err(Error::Refused {
            what: format!(
                "{}: SQLite doesn't see the rows of {table}; run the load again with --writer statements",
                path.display()
            ),
        }),
    }
}

/// Checks the foreign keys of a table that SQLite sees the rows of.
///
/// # Errors
/// If a row has no parent, or the load is stopped.
pub(super) fn check_parents(
    connection: &Connection,
    path: &Path,
    table: &str,
    progress: &Progress,
) -> Result<(), Error> {
    let failed = failed(path);
    let mut result = Ok(());
    let ran = interruptible(connection, progress, || {
        result = refuse_orphans(connection, path, table);
        Ok(())
    });
    ran.map_err(&failed)?;
    result.map_err(|error| stopped_or(progress, error))
}

fn refuse_orphans(connection: &Connection, path: &Path, table: &str) -> Result<(), Error> {
    let orphans = orphans(connection, table).map_err(failed(path))?;
    match orphans.is_empty() {
        true => Ok(()),
        false => Err(Error::Refused {
            what: format!("{}: {}", path.display(), orphans.join("; ")),
        }),
    }
}

/// The error that the table isn't empty any more.
pub(super) fn received_rows(path: &Path, table: &str) -> Error {
    Error::Refused {
        what: format!(
            "{}: {table} received rows while the loader read its own; run the load again",
            path.display()
        ),
    }
}

/// The largest rowid that an AUTOINCREMENT table ever had, from `sqlite_sequence`.
pub(super) fn largest_rowid(database: &Connection, table: &str) -> rusqlite::Result<i64> {
    let read =
        "SELECT CAST(seq AS INTEGER) FROM main.sqlite_sequence WHERE name = ?1 ORDER BY rowid";
    let found: Option<Option<i64>> = database
        .query_row(read, [table], |row| row.get(0))
        .optional()?;
    Ok(found.flatten().unwrap_or(0))
}

/// Runs a closure, and interrupts the connection if the load is stopped.
fn interruptible(
    connection: &Connection,
    progress: &Progress,
    run: impl FnOnce() -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let handle = connection.get_interrupt_handle();
    let (ended, is_ended) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // The other end is dropped when all is done.
            while is_ended.recv_timeout(LOOKS_EVERY)
                == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
            {
                if progress.is_stopped() {
                    handle.interrupt();
                }
            }
        });
        let result = run();
        drop(ended);
        result
    })
}

fn stopped_or(progress: &Progress, error: Error) -> Error {
    match progress.is_stopped() {
        true => Error::Stopped,
        false => error,
    }
}
