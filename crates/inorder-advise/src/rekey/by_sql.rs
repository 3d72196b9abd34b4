//! Changes of indexes alone, made by statements of SQLite where the pages of a database can't be changed in place, as those
//! of one with `auto_vacuum`. Nothing is copied: the transaction needs its journal.

use std::path::Path;

use rusqlite::Connection;

use super::snapshot::{busy_or, open};
use super::{Phase, Progress, Rekey};
use crate::apply::{Draft, Object, Schema, Settings};
use crate::ddl::quoted;
use crate::{Change, Error, check};
use inorder_btree::AutoVacuum;

/// Drops indexes and makes others partial. Returns whether free pages are left; `None` where another change is wanted, or
/// SQLite lacks what an index needs.
///
/// # Errors
/// As [`Rekey::run`].
pub(super) fn make(rekey: &Rekey, path: &Path, progress: &Progress) -> Result<Option<bool>, Error> {
    let is_of_index = |change: &Change| {
        matches!(
            change,
            Change::DropIndex { .. } | Change::PartialIndex { .. }
        )
    };
    if !rekey.changes.iter().all(is_of_index) {
        return Ok(None);
    }
    let connection = open(path, rekey.wait)?;
    let busy = |error| busy_or(path, "another process reads or writes it", error);
    // Closing the connection rolls back what an error ends.
    connection.execute_batch("BEGIN IMMEDIATE").map_err(busy)?;
    let draft = Draft::new(&connection, &rekey.changes)?;
    let auto_vacuum = Settings::read(&connection)?.auto_vacuum;
    progress.enter(Phase::Swap)?;
    for statement in statements(&draft) {
        match connection.execute_batch(&statement).map_err(busy) {
            Ok(()) => {}
            Err(Error::Sqlite(_)) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    if let Some(why) = check::schema_difference(&draft.new, &Schema::read(&connection)?) {
        return Err(Error::Refused {
            change: format!("rekey {}", path.display()),
            why,
        });
    }
    connection.execute_batch("COMMIT").map_err(busy)?;
    // The changes are made, also where stop was asked for.
    let is_stopped = progress.enter(Phase::Shrink).is_err();
    Ok(Some(match auto_vacuum {
        AutoVacuum::Full => false,
        AutoVacuum::Incremental => is_stopped || return_free_pages(&connection).is_err(),
        AutoVacuum::None => true,
    }))
}

/// Returns the free pages of a file with incremental vacuum. Each step of the statement returns one.
fn return_free_pages(connection: &Connection) -> rusqlite::Result<()> {
    let mut vacuum = connection.prepare("PRAGMA main.incremental_vacuum")?;
    let mut pages = vacuum.query([])?;
    while pages.next()?.is_some() {}
    Ok(())
}

/// The statements that make the indexes of the old schema those of the new one.
fn statements(draft: &Draft) -> Vec<String> {
    let is_index = |object: &&Object| object.kind == "index" && object.sql.is_some();
    let gone = |object: &&Object| !draft.new.objects.contains(object);
    let made = |object: &&Object| !draft.old.objects.contains(object);
    let old = draft.old.objects.iter().filter(is_index).filter(gone);
    let new = draft.new.objects.iter().filter(is_index).filter(made);
    let drops = old.map(|index| format!("DROP INDEX main.{}", quoted(&index.name)));
    drops
        .chain(new.filter_map(|index| index.sql.clone()))
        .collect()
}
