//! The end of a database's file, cut off: its last pages move into free ones.
//!
//! Free pages but the trunk pages have no content that anybody reads, so the copies are written before the transaction.
//! That is small again: it has the pages that refer to moved ones, what comes in the place of trunk pages, the header, and
//! the new end. A kill before it leaves the database with its free pages.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use inorder_btree::{FreeList, Moves, PageMap, Reader, Sizes};
use inorder_load::files::{Access, open_for_good};
use inorder_load::raw_pages::RawPages;
use rusqlite::Connection;

use super::snapshot::{self, TRIES, empty_wal};
use super::{Phase, Progress};
use crate::Error;
use crate::snapshot::{beside, check_space};

/// Makes a database as short as its pages allow.
///
/// # Errors
/// [`Error::Busy`] where another process uses the database, and [`Error::Stopped`]; [`Error::Build`] where pages can't be read or written; SQLite's errors.
pub(super) fn shrink(path: &Path, wait: Duration, progress: &Progress) -> Result<(), Error> {
    progress.enter(Phase::Shrink)?;
    let open = |access| open_for_good(path, access).map_err(Error::io(path));
    let failed = |error: inorder_btree::Error| Error::Build {
        path: path.to_owned(),
        why: error.to_string(),
    };
    let (direct, cached) = (open(Access::Direct)?, open(Access::Cached)?);
    let connection = snapshot::open(path, wait)?;
    begin(&connection, path)?;
    let mut reader = Reader::new(Arc::clone(&cached)).map_err(failed)?;
    let (page_bytes, usable_bytes) = (reader.page_bytes(), reader.usable_bytes());
    let mut first = reader.page(1).map_err(failed)?.to_vec();
    let (Some(sizes), Some(raw)) = (Sizes::of(&first), RawPages::of(&connection)?) else {
        return Ok(());
    };
    let mut roots = vec![1];
    {
        let all = "SELECT rootpage FROM main.sqlite_schema WHERE rootpage > 0";
        let mut statement = connection.prepare(all)?;
        for root in statement.query_map([], |row| row.get(0))? {
            roots.push(root?);
        }
    }
    let map = PageMap::read(&mut reader, sizes.pages, &roots, sizes.free_list).map_err(failed)?;
    let moves = Moves::new(&map, page_bytes);
    if moves.pages() == sizes.pages {
        return Ok(());
    }
    let look = || progress.look().map_err(std::io::Error::other);
    let others = moves.make(&mut reader, &map, &direct, &cached, look);
    progress.look()?;
    let others = others.map_err(failed)?;
    direct.sync_all().map_err(Error::io(path))?;
    check_space(
        path.parent().unwrap_or(Path::new(".")),
        (others.len() as u64 + 1) * (page_bytes as u64 + 8),
        "the journal of the pages that refer to moved ones",
        "make room and run VACUUM",
    )?;
    let free = FreeList::new(moves.free(), page_bytes as usize, usable_bytes, (0, 0));
    for (number, page) in others {
        match number {
            1 => first = page,
            number => raw.write(number, &page)?,
        }
    }
    for (number, page) in &free.trunks {
        raw.write(*number, page)?;
    }
    free.enter(&mut first, moves.pages());
    raw.write(1, &first)?;
    raw.truncate(moves.pages())?;
    let busy = |error| snapshot::busy_or(path, "another process reads it", error);
    connection.execute_batch("COMMIT").map_err(busy)?;
    // Whoever reads the database keeps the WAL; the last to close it writes it back.
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    _ = connection.query_row(checkpoint, [], |row| row.get::<_, bool>(0));
    Ok(())
}

/// Begins a transaction that keeps other writers away, of a database whose file has all of it: nobody reads what the WAL
/// has replaced.
fn begin(connection: &Connection, path: &Path) -> Result<(), Error> {
    let busy = |error| snapshot::busy_or(path, "another process writes to it", error);
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    if mode != "wal" {
        return connection.execute_batch("BEGIN IMMEDIATE").map_err(busy);
    }
    for _ in 0..TRIES {
        empty_wal(connection, path)?;
        connection.execute_batch("BEGIN IMMEDIATE").map_err(busy)?;
        if beside(path, "-wal").metadata().map_or(0, |wal| wal.len()) == 0 {
            return Ok(());
        }
        connection.execute_batch("COMMIT")?;
    }
    Err(Error::Busy {
        path: path.to_owned(),
        why: "another process writes to it".to_owned(),
    })
}
