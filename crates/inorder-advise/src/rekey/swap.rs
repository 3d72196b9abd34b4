//! The new content, written into the database in one transaction.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use inorder_btree::rollback;
use rusqlite::OpenFlags;
use rusqlite::backup::{Backup, StepResult};

use super::aside::Aside;
use super::snapshot::{self, Snapshot};
use super::{Phase, Progress};
use crate::Error;
use crate::snapshot::beside;

/// Pages written between two looks at whether to stop, where SQLite writes them.
const PAGES: i32 = 4096;

/// Writes the content of the file aside into the database, if that is as it was in the snapshot.
///
/// # Errors
/// [`Error::Busy`] where another process has written, or uses the database; [`Error::Stopped`]; the system's errors.
/// The database has its old content after each.
pub(super) fn swap(
    snapshot: &Snapshot,
    aside: &Aside,
    path: &Path,
    wait: Duration,
    progress: &Progress,
) -> Result<(), Error> {
    match snapshot.is_wal {
        true => into_wal(snapshot, aside, path, wait, progress),
        false => under_journal(snapshot, aside, path, progress),
    }
}

fn in_use(path: &Path) -> Error {
    Error::Busy {
        path: path.to_owned(),
        why: "another process reads or writes it".to_owned(),
    }
}

fn is_changed(path: &Path) -> Error {
    Error::Busy {
        path: path.to_owned(),
        why: "another process wrote to it meanwhile".to_owned(),
    }
}

/// Swaps the content of a database without a WAL.
///
/// The journal of the old pages is written while others may still read. It becomes SQLite's journal by its name, once
/// the exclusive lock is held: from then until it is removed, whoever opens the database after a kill rolls back.
fn under_journal(
    snapshot: &Snapshot,
    aside: &Aside,
    path: &Path,
    progress: &Progress,
) -> Result<(), Error> {
    progress.enter(Phase::Journal)?;
    let failed = |source| Error::File {
        path: path.to_owned(),
        source,
    };
    let database = &snapshot.file;
    let prepared = aside.create_companion()?;
    let look = || progress.look().map_err(std::io::Error::other);
    let page_bytes = snapshot.pages.page_bytes();
    let written = rollback::journal(database, page_bytes, &prepared, look);
    progress.look()?;
    written.map_err(failed)?;
    let new = File::open(aside.path()).map_err(failed)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let folder = File::open(folder).map_err(failed)?;
    progress.enter(Phase::Swap)?;
    snapshot.end()?;
    let lock = snapshot.connection.execute_batch("BEGIN EXCLUSIVE");
    lock.map_err(|error| snapshot::busy_or(path, "another process reads or writes it", error))?;
    if !snapshot.is_current()? {
        return Err(is_changed(path));
    }
    let journal = beside(path, "-journal");
    std::fs::rename(aside.companion(), &journal).map_err(failed)?;
    let overwritten = folder
        .sync_all()
        .and_then(|()| rollback::overwrite(database, &new))
        .and_then(|()| std::fs::remove_file(&journal))
        .and_then(|()| folder.sync_all());
    // The connection has written nothing: this gives its lock back. Where a journal is left, the next reader rolls
    // back.
    snapshot.connection.execute_batch("ROLLBACK")?;
    if let Err(error) = overwritten {
        let schema = "SELECT count(*) FROM main.sqlite_schema";
        snapshot.connection.query_row(schema, [], |_| Ok(()))?;
        return Err(failed(error));
    }
    Ok(())
}

/// Swaps the content of a database in WAL mode: SQLite writes the pages into the WAL. Readers keep what they read.
fn into_wal(
    snapshot: &Snapshot,
    aside: &Aside,
    path: &Path,
    wait: Duration,
    progress: &Progress,
) -> Result<(), Error> {
    progress.enter(Phase::Swap)?;
    snapshot.end()?;
    let new = inorder_sqlite::open(aside.path(), OpenFlags::default())?;
    let mut database = snapshot::open(path, wait)?;
    let busy = |error| snapshot::busy_or(path, "another process reads or writes it", error);
    {
        let backup = Backup::new(&new, &mut database).map_err(busy)?;
        // No page yet: this begins the write transaction of the database, which lasts until the backup is done or
        // dropped.
        match backup.step(0).map_err(busy)? {
            StepResult::More => {}
            _ => return Err(in_use(path)),
        }
        if !snapshot.is_current()? {
            return Err(is_changed(path));
        }
        loop {
            progress.look()?;
            match backup.step(PAGES).map_err(busy)? {
                StepResult::More => {}
                StepResult::Done => break,
                _ => return Err(in_use(path)),
            }
        }
    }
    // Whoever still reads the old content keeps the WAL; the last to close it writes it back.
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    _ = database.query_row(checkpoint, [], |row| row.get::<_, bool>(0));
    Ok(())
}
