//! The writer lock of a database whose file has all of its content.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use inorder_btree::Sizes;
use rusqlite::Connection;

use crate::Error;
use crate::database::{BUSY, failed};
use crate::files::beside;
use crate::raw_pages::RawPages;

/// A database that nobody else can make longer.
pub(super) struct Locked {
    pub(super) sizes: Sizes,
    /// The bytes of its file.
    pub(super) file_bytes: u64,
}

/// The schema format that has descending indexes and the serial types 8 and 9.
const SCHEMA_FORMAT: u8 = 4;

/// How often the lock is taken because the WAL was in use, or something lay behind the end of the database.
const TRIES: u32 = 3;

/// The time that readers of a WAL have to end.
const READERS_WAIT: Duration = Duration::from_millis(200);

/// Begins a write transaction, and cuts off what a killed load left behind the end. Returns the reason if the database can't
/// be extended; the transaction has ended then.
///
/// With a rollback journal, the lock is all that is needed: SQLite has rolled a hot journal back, and only a writer changes
/// the length of the file.
///
/// In WAL mode the WAL must be empty. A checkpoint cuts the file to the length of the last commit in the WAL, and a WAL may
/// have old content of pages behind the end, which SQLite would find there after a crash. With an empty WAL and the writer
/// lock, nobody writes anything back before the next commit, which is this transaction's. No reader has an older snapshot: a
/// WAL is not emptied while somebody reads from it (<https://www.sqlite.org/walformat.html>, section 4.3).
///
/// # Errors
/// If the database is locked or can't be read.
pub(super) fn lock(
    connection: &Connection,
    path: &Path,
    file: &File,
) -> Result<Result<Locked, String>, Error> {
    let failed = failed(path);
    let work = |source| Error::Work {
        path: path.to_owned(),
        source,
    };
    let mut why = "its file has another length than its header says";
    for _ in 0..TRIES {
        let is_empty = empty_wal(connection).map_err(&failed)?;
        connection
            .execute_batch("BEGIN IMMEDIATE")
            .map_err(&failed)?;
        if !is_empty
            || beside(path, "-wal")
                .metadata()
                .is_ok_and(|wal| wal.len() > 0)
        {
            connection.execute_batch("ROLLBACK").map_err(&failed)?;
            why = "another connection uses the WAL";
            continue;
        }
        let found = match reason_against(connection).map_err(&failed)? {
            Ok(sizes) => sizes,
            Err(why) => {
                connection.execute_batch("ROLLBACK").map_err(&failed)?;
                return Ok(Err(why));
            }
        };
        let file_bytes = u64::from(found.pages) * u64::from(found.page_bytes);
        let length = file.metadata().map_err(work)?.len();
        if length == file_bytes {
            return Ok(Ok(Locked {
                sizes: found,
                file_bytes,
            }));
        }
        if length > file_bytes {
            file.set_len(file_bytes).map_err(work)?;
        }
        // The connection has read the length when the transaction began.
        connection.execute_batch("ROLLBACK").map_err(&failed)?;
    }
    Ok(Err(why.to_owned()))
}

/// Reads the sizes of a database, or says why it can't be extended.
fn reason_against(connection: &Connection) -> rusqlite::Result<Result<Sizes, String>> {
    let Some(raw) = RawPages::of(connection)? else {
        return Ok(Err("this SQLite doesn't tell its pages".to_owned()));
    };
    let pages: u32 = connection.query_row("PRAGMA main.page_count", [], |row| row.get(0))?;
    if pages == 0 {
        return Ok(Err("the file is empty".to_owned()));
    }
    let first = raw.read(1)?;
    let Some(sizes) = Sizes::of(&first).filter(|_| first[44..48] == [0, 0, 0, SCHEMA_FORMAT])
    else {
        return Ok(Err("its header has an old format".to_owned()));
    };
    let words = match (first[20], &first[52..56]) {
        (0, [0, 0, 0, 0]) => return Ok(Ok(sizes)),
        (0, _) => "auto_vacuum is on",
        _ => "its pages have reserved bytes",
    };
    Ok(Err(words.to_owned()))
}

/// Writes the WAL of a database back, if it has one, and empties it. Returns whether nobody was in the way.
fn empty_wal(connection: &Connection) -> rusqlite::Result<bool> {
    let mode: String = connection.query_row("PRAGMA main.journal_mode", [], |row| row.get(0))?;
    if mode != "wal" {
        return Ok(true);
    }
    connection.busy_timeout(READERS_WAIT)?;
    let checkpoint = "PRAGMA main.wal_checkpoint(TRUNCATE)";
    let is_busy: bool = connection.query_row(checkpoint, [], |row| row.get(0))?;
    connection.busy_timeout(BUSY)?;
    Ok(!is_busy)
}
