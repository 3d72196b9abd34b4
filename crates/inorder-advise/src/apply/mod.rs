//! Changes made to a private copy of a database.

mod draft;
pub(crate) mod ids;
mod pages;
mod schema;
mod settings;
mod statements;
pub(crate) mod statistics;
mod text;
mod uses;

use std::fs::File;
use std::path::Path;

use inorder_btree::Reader;
use rusqlite::{Connection, OpenFlags};

use crate::{Change, Error};
pub(crate) use draft::Draft;
pub(crate) use pages::{Extended, Failure, Work, extend};
pub(crate) use schema::{Object, Schema};
pub(crate) use settings::Settings;
pub(crate) use statements::{UNPACKED, copy as copy_by_statements};
pub(crate) use text::user_of_text;
pub(crate) use uses::{Uses, handled_null, ignored_default, user_of_last_rowid, uses_last_rowid};

/// Memory for sorting.
const MEMORY_BYTES: usize = 256 << 20;

/// Makes changes to a database: reads `source`, which nobody else may write meanwhile, and fills `target`, which
/// is empty or doesn't exist. Without changes it does what `VACUUM INTO` does.
///
/// Rowids, triggers, views, virtual tables and their shadow tables, `sqlite_sequence`, `application_id`,
/// `user_version`, encoding and `auto_vacuum` are kept; so is the page size, unless it is changed. The target is
/// not in WAL mode.
///
/// # Errors
/// [`Error::Refused`] where a change can't be made or its safety can't be proven, and SQLite's errors.
pub fn apply(source: &Path, target: &Path, changes: &[Change]) -> Result<(), Error> {
    make(source, target, changes, None, MEMORY_BYTES)
}

/// Fills `target` as [`apply`] does, with nothing but these tables and their indexes. Two may run side by side.
///
/// # Errors
/// As [`apply`].
pub(crate) fn apply_to_tables(
    source: &Path,
    target: &Path,
    changes: &[Change],
    tables: &[&str],
) -> Result<(), Error> {
    make(source, target, changes, Some(tables), MEMORY_BYTES / 2)
}

fn make(
    source: &Path,
    target: &Path,
    changes: &[Change],
    tables: Option<&[&str]>,
    memory_bytes: usize,
) -> Result<(), Error> {
    // Closed last: closing a file gives up the locks that connections have on it.
    let file = File::open(source).map_err(|error| failed(source, error))?;
    let mut reader = None;
    let connection = inorder_sqlite::open(source, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.execute_batch("BEGIN")?;
    let mut draft = Draft::new(&connection, changes)?;
    if let Some(tables) = tables {
        draft.keep_tables(tables);
    }
    let settings = Settings::read(&connection)?.changed(&draft);
    let work = Work {
        settings: &settings,
        memory_bytes,
        folder: target.parent().unwrap_or(Path::new(".")),
        is_verified: false,
        look: &|| Ok(()),
        free_bytes: None,
        begins: &|_| (),
    };
    if !settings.is_wal {
        let reader =
            reader.insert(Reader::new(file).map_err(|error| cannot_build(target, error.into()))?);
        if fill(&connection, reader, target, &draft, &work)?.is_ok() {
            return Ok(());
        }
    }
    drop(connection);
    statements::copy(source, target, &settings, &draft)
}

/// Tells whether changes can be made to a database, without making them.
///
/// # Errors
/// As [`apply`].
pub(crate) fn check(source: &Path, changes: &[Change]) -> Result<(), Error> {
    let reader = inorder_sqlite::open(source, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    Draft::new(&reader, changes).map(drop)
}

/// Fills the file `target` by pages; says why it can't be, and leaves it empty then.
///
/// # Errors
/// [`Error::Build`] where the file can't be built, and SQLite's.
pub(crate) fn fill(
    connection: &Connection,
    source: &mut Reader,
    target: &Path,
    draft: &Draft,
    work: &Work<'_>,
) -> Result<Result<(), String>, Error> {
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(target);
    let file = file.map_err(|error| failed(target, error))?;
    let copy = file.try_clone().map_err(|error| failed(target, error))?;
    let result = pages::copy(connection, source, copy, draft, work);
    match result.map_err(|failure| cannot_build(target, failure))? {
        Ok(statements) => {
            drop(file);
            complete(target, &statements)?;
            Ok(Ok(()))
        }
        Err(obstacle) => {
            file.set_len(0).map_err(|error| failed(target, error))?;
            Ok(Err(obstacle))
        }
    }
}

/// Makes the indexes that only SQLite can make.
fn complete(target: &Path, statements: &[String]) -> Result<(), Error> {
    if statements.is_empty() {
        return Ok(());
    }
    let connection = inorder_sqlite::open(target, OpenFlags::default())?;
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN")?;
    for statement in statements {
        connection.execute_batch(statement)?;
    }
    connection.execute_batch("COMMIT")?;
    Ok(())
}

fn failed(path: &Path, source: std::io::Error) -> Error {
    Error::File {
        path: path.to_owned(),
        source,
    }
}

pub(crate) fn cannot_build(path: &Path, failure: Failure) -> Error {
    match failure {
        Failure::Stopped => Error::Stopped,
        Failure::Sqlite(error) => Error::Sqlite(error),
        failure => Error::Build {
            path: path.to_owned(),
            why: failure.to_string(),
        },
    }
}
