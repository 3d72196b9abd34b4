//! The tables of a database, and how a connection to it is set up.

use super::partition::PARTITIONED;
use super::{Error, Result, Settings, Synchronous, indexes};
use inorder_serve::private;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// Marks the file as one of ours: "ioCd".
const APPLICATION_ID: i64 = 0x696f_4364;

/// Counts changes of the tables that an older program could not read.
const VERSION: i64 = 1;

/// A document is one row, its body last: what lists documents never touches it. An update takes the row out and puts it
/// back under the next sequence, so that changes are read in the order of the table; the unique index has all that a list
/// of documents shows.
const TABLES: &str = "
CREATE TABLE docs(
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  deleted INTEGER NOT NULL,
  gen INTEGER NOT NULL,
  hash BLOB NOT NULL,
  tree BLOB NOT NULL,
  atts TEXT,
  body TEXT NOT NULL,
  UNIQUE(id, deleted, gen, hash)
) STRICT;
-- Bodies of revisions that do not win: other leaves, and, until the next compaction, revisions before a leaf.
CREATE TABLE bodies(
  id INTEGER PRIMARY KEY,
  doc TEXT NOT NULL,
  atts TEXT,
  body TEXT NOT NULL
) STRICT;
CREATE TABLE local(
  id TEXT PRIMARY KEY,
  writes INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- Bytes of attachments by their SHA-256, which is NULL while they arrive; refs counts the bodies that have them.
CREATE TABLE blobs(
  id INTEGER PRIMARY KEY,
  digest BLOB UNIQUE,
  refs INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX blobs_unused ON blobs(id) WHERE refs = 0;
-- The id is that of the blob, then the number of the chunk in 24 bits.
CREATE TABLE chunks(
  id INTEGER PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;
CREATE TABLE properties(
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- One row. A sequence is never given twice, so the last is remembered even when its document is purged.
CREATE TABLE state(
  one INTEGER PRIMARY KEY CHECK (one = 1),
  update_seq INTEGER NOT NULL DEFAULT 0,
  purge_seq INTEGER NOT NULL DEFAULT 0,
  doc_count INTEGER NOT NULL DEFAULT 0,
  deleted_count INTEGER NOT NULL DEFAULT 0,
  external_bytes INTEGER NOT NULL DEFAULT 0,
  design_seq INTEGER NOT NULL DEFAULT 0,
  revs_limit INTEGER NOT NULL DEFAULT 1000,
  created_microseconds INTEGER NOT NULL,
  uuid TEXT NOT NULL
) STRICT;
";

/// Pages of the log after which they are moved into the file, by the writer.
const CHECKPOINT_PAGES: u32 = 1000;

/// Bytes the log is cut down to when it was larger.
const LOG_BYTES_KEPT: u32 = 16 << 20;

/// Statements that a connection keeps prepared.
const STATEMENTS_MAX: usize = 64;

/// Makes the file of a new database; none may be there.
pub fn create(path: &Path, is_partitioned: bool) -> Result<()> {
    // SQLite gives the files beside it the same mode.
    private::create_new(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Error::DatabaseExists,
        _ => Error::io(path, error),
    })?;
    let connection = Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE))?;
    connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;")?;
    let microseconds = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_micros() as i64);
    let uuid = inorder_key::Uuid::now_v7().to_string().replace('-', "");
    let fill = || {
        connection.execute_batch(&format!(
            "BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}; {TABLES}"
        ))?;
        connection.execute(
            "INSERT INTO state(one, created_microseconds, uuid) VALUES (1, ?1, ?2)",
            (microseconds, uuid),
        )?;
        if is_partitioned {
            let sql = "INSERT INTO properties(name, value) VALUES (?1, 'true')";
            connection.execute(sql, [PARTITIONED])?;
        }
        connection.execute_batch("COMMIT")
    };
    Ok(fill()?)
}

/// The connection that writes. Checks that the file is a database of this program.
pub fn open_writer(path: &Path, settings: &Settings) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE))?;
    let damaged = |what: String| Error::Damaged {
        path: path.to_owned(),
        what,
    };
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let application = number("application_id").map_err(|error| damaged(error.to_string()))?;
    if application != APPLICATION_ID {
        return Err(damaged("this is no database of inorder-couch".to_owned()));
    }
    let version = number("user_version")?;
    if version != VERSION {
        return Err(damaged(format!(
            "its version is {version}, this program reads version {VERSION}"
        )));
    }
    let synchronous = match settings.synchronous {
        Synchronous::Full => "FULL",
        Synchronous::Relaxed => "NORMAL",
    };
    connection.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous};
         PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}; PRAGMA journal_size_limit = {LOG_BYTES_KEPT};
         PRAGMA cache_size = -2048;"
    ))?;
    if let Some(bytes) = settings.file_bytes_max {
        let pages = (bytes / number("page_size")?.max(1) as u64).max(1);
        connection.pragma_update(None, "max_page_count", pages as i64)?;
    }
    set_up(&connection)?;
    Ok(connection)
}

/// A connection that reads.
pub fn open_reader(path: &Path) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_ONLY))?;
    // Half of it costs a document's reader a tenth more CPU time, because it asks the kernel for pages of the index.
    connection.execute_batch("PRAGMA cache_size = -2048;")?;
    set_up(&connection)?;
    Ok(connection)
}

fn flags(access: OpenFlags) -> OpenFlags {
    // The pool lends a connection to one thread at a time.
    access | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

fn set_up(connection: &Connection) -> Result<()> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    crate::mango::register(connection)?;
    indexes::register(connection)?;
    Ok(())
}
