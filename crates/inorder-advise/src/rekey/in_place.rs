//! Changes of some trees of a database: the others are not read and not written.
//!
//! The new trees are built behind the pages of the database, where nothing refers to them. One small transaction of
//! SQLite then replaces the schema, puts the pages of the old trees on the freelist, and makes the database longer. A
//! kill before it leaves the old content, in a file that is longer than its header says; SQLite takes no notice of that,
//! and the next rekey cuts it off.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use inorder_btree::{SchemaEntry, lock_page};
use inorder_load::files::{Access, free_bytes, open_for_good};
use inorder_load::raw_pages::{Extension, RawPages};
use rusqlite::{Connection, params};

use super::snapshot::{Snapshot, busy_or};
use super::{Phase, Progress, Rekey};
use crate::apply::{self, Draft, Extended, Failure, Schema, Settings};
use crate::{Error, check};

/// Makes the changes of a draft. Returns the reason where that can't be done in place; the file may be longer then.
///
/// # Errors
/// As [`Rekey::run`].
pub(super) fn make(
    rekey: &Rekey,
    path: &Path,
    snapshot: &mut Snapshot,
    draft: &Draft,
    settings: &Settings,
    progress: &Progress,
) -> Result<Result<(), String>, Error> {
    let is_possible = RawPages::of(&snapshot.connection)?.is_some();
    let (Some(sizes), true) = (snapshot.sizes, is_possible) else {
        return Ok(Err("this SQLite doesn't tell its pages".to_owned()));
    };
    progress.enter(Phase::Build)?;
    let file = open_for_good(path, Access::Direct).map_err(Error::io(path))?;
    let look = || progress.look().map_err(|_| Failure::Stopped);
    let begins = |bytes| progress.room(bytes);
    let work = rekey.work(path, settings, &look, &begins);
    let Snapshot {
        connection, pages, ..
    } = snapshot;
    let extended = apply::extend(connection, pages, sizes, file, draft, &work);
    let extended = extended.map_err(|failure| match draft.check_rows(connection) {
        _ if matches!(failure, Failure::NoRoom { .. }) => no_room(path, failure),
        // A row that isn't as it has to be is told in the words of its change.
        Err(refused) if !matches!(failure, Failure::Stopped) => refused,
        _ => apply::cannot_build(path, failure),
    })?;
    let extended = match extended {
        Ok(extended) => extended,
        Err(obstacle) => return Ok(Err(obstacle)),
    };
    extended.file.sync_all().map_err(Error::io(path))?;
    progress.enter(Phase::Swap)?;
    let result = commit(path, snapshot, extended, draft, settings);
    if result.is_err() && !snapshot.connection.is_autocommit() {
        // The first error says more.
        _ = snapshot.connection.execute_batch("ROLLBACK");
    }
    result.map(Ok)
}

/// Makes the new trees those of the database, in the transaction that has read the old ones and kept writers away.
fn commit(
    path: &Path,
    snapshot: &mut Snapshot,
    mut extended: Extended,
    draft: &Draft,
    settings: &Settings,
) -> Result<(), Error> {
    let (connection, page_bytes) = (&snapshot.connection, snapshot.pages.page_bytes() as usize);
    let busy = |error| busy_or(path, "another process reads or writes it", error);
    let page = |file: &File, number: u32| {
        let mut page = vec![0; page_bytes];
        let read = file.read_exact_at(&mut page, u64::from(number - 1) * page_bytes as u64);
        read.map(|()| page).map_err(Error::io(path))
    };
    let moved = move_roots(
        &mut extended,
        snapshot.sizes.map_or(0, |sizes| sizes.free_pages),
    );
    for statement in draft.statistics() {
        connection.execute_batch(&statement).map_err(busy)?;
    }
    write_schema(connection, &extended.schema).map_err(busy)?;
    if let Some(why) = check::schema_difference(&draft.new, &Schema::read(connection)?) {
        return Err(refused(path, why));
    }
    let pages: u32 = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
    let has_trees = extended.first_tree <= extended.pages;
    if has_trees && pages >= extended.first_tree {
        return Err(refused(path, "the schema needs too many pages".to_owned()));
    }
    let Some(raw) = RawPages::of(connection)? else {
        return Err(refused(path, "SQLite doesn't tell its pages".to_owned()));
    };
    if has_trees {
        let lock_page = lock_page(snapshot.pages.page_bytes());
        let between = pages + 1..extended.first_tree;
        extended
            .freed
            .extend(between.filter(|page| *page != lock_page));
    }
    extended.freed.sort_unstable();
    for (from, to) in moved {
        // Statistics are in SQLite's cache: they were changed in this transaction.
        let moved = match from <= extended.database_pages {
            true => raw.read(from).map_err(busy)?,
            false => page(&extended.file, from)?,
        };
        raw.write(to, &moved).map_err(busy)?;
    }
    let last = extended.pages.max(pages);
    let last_page = match last > pages {
        true => Some(page(&extended.file, last)?),
        false => None,
    };
    let extension = Extension {
        pages: last,
        last_page: last_page.as_deref(),
        freed: &extended.freed,
        schema_cookie: Some(settings.schema_version),
        usable_bytes: snapshot.pages.usable_bytes(),
    };
    if !raw.extend(&extension).map_err(busy)? {
        return Err(refused(path, "the header has an old format".to_owned()));
    }
    connection.execute_batch("COMMIT").map_err(busy)?;
    Ok(())
}

/// The error of a disk that is too small.
fn no_room(path: &Path, failure: Failure) -> Error {
    let folder = path.parent().unwrap_or(Path::new("."));
    match (failure, free_bytes(folder)) {
        (Failure::NoRoom { needed_bytes }, Some(free_bytes)) => Error::NoSpace {
            what: "the new tables and indexes",
            needed_bytes,
            free_bytes,
            folder: folder.into(),
            remedy: "make room and run it again; nothing was changed",
        },
        (failure, _) => apply::cannot_build(path, failure),
    }
}

fn refused(path: &Path, why: String) -> Error {
    Error::Refused {
        change: format!("rekey {}", path.display()),
        why,
    }
}

/// Gives roots that would lie behind the end of the shortened file a page before it that becomes free. Returns where
/// each was and is. Only the schema refers to a root, so the file can end before the others are moved.
fn move_roots(extended: &mut Extended, free_pages: u32) -> Vec<(u32, u32)> {
    let freed = extended.freed.len() as u32 + extended.first_tree - 1 - extended.database_pages;
    let end = extended.pages.saturating_sub(freed + free_pages);
    let (mut moved, mut places) = (Vec::new(), extended.freed.clone().into_iter());
    for entry in extended.schema.iter_mut().filter(|entry| entry.root > end) {
        let Some(place) = places.next().filter(|place| *place <= end) else {
            break;
        };
        moved.push((entry.root, place));
        entry.root = place;
    }
    extended.freed.drain(..moved.len());
    extended.freed.extend(moved.iter().map(|(from, _)| *from));
    moved
}

/// Replaces the rows of the schema. SQLite must not read it before the commit: it would take roots of new trees to lie
/// behind the end.
fn write_schema(connection: &Connection, schema: &[SchemaEntry]) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA writable_schema = ON; DELETE FROM main.sqlite_schema")?;
    {
        let insert = "INSERT INTO main.sqlite_schema(type, name, tbl_name, rootpage, sql) VALUES (?1, ?2, ?3, ?4, ?5)";
        let mut insert = connection.prepare(insert)?;
        for entry in schema {
            let SchemaEntry {
                kind,
                name,
                table_name,
                root,
                sql,
            } = entry;
            insert.execute(params![kind, name, table_name, root, sql])?;
        }
    }
    Ok(())
}
