//! Compaction.

use super::attachment::Record;
use super::row;
use super::shared::Shared;
use super::{Result, blobs};
use rusqlite::{Connection, OptionalExtension};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Bodies that are looked at in one transaction: others write between.
const BODIES: i64 = 500;

/// Free pages that are given back in one transaction.
const PAGES: u32 = 2000;

/// A compaction that was requested. The database shows it as running until this is dropped.
pub struct Compaction(Arc<Shared>);

impl Compaction {
    /// Registers a compaction, unless one is registered already.
    pub(super) fn begin(database: &Arc<Shared>) -> Option<Self> {
        let is_running = database.is_compacting.swap(true, Ordering::SeqCst);
        (!is_running).then(|| Compaction(Arc::clone(database)))
    }

    /// Removes the bodies of non-leaf revisions and frees their space, in small steps between which others write. Blocks until the
    /// end.
    ///
    /// # Errors
    /// If SQLite refuses.
    ///
    /// # Panics
    /// Inside an asynchronous task.
    pub fn run(&self) -> Result<()> {
        self.0.compact_all()
    }
}

impl Drop for Compaction {
    fn drop(&mut self) {
        self.0.is_compacting.store(false, Ordering::SeqCst);
    }
}

impl Shared {
    fn compact_all(&self) -> Result<()> {
        let mut after = 0;
        while let Some(last) = self
            .write(move |connection| Ok((forget_bodies(connection, after)?, None)))
            .wait()?
        {
            after = last;
        }
        loop {
            let pins = self.pins.clone();
            let removed =
                self.write(move |connection| Ok((blobs::remove_unused(connection, &pins)?, None)));
            if !removed.wait()? {
                break;
            }
        }
        while self.write_alone(give_back)? {}
        self.write_alone(|connection| {
            // Readers may hold the log; the next checkpoint cuts it down.
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            Ok(())
        })
    }
}

/// Removes the bodies of non-leaf revisions among the next ones. Returns the last one visited.
fn forget_bodies(connection: &Connection, after: i64) -> Result<Option<i64>> {
    let mut statement = connection
        .prepare_cached("SELECT id, doc FROM bodies WHERE id > ?1 ORDER BY id LIMIT ?2")?;
    let rows = statement.query_map([after, BODIES], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let rows: Vec<(i64, String)> = rows.collect::<rusqlite::Result<_>>()?;
    for bodies in rows.chunk_by(|one, next| one.1 == next.1) {
        forget_unless_leaves(connection, bodies)?;
    }
    Ok(rows.last().map(|(body, _)| *body))
}

/// Removes bodies of one document unless they are those of leaf revisions.
fn forget_unless_leaves(connection: &Connection, bodies: &[(i64, String)]) -> Result<()> {
    let mut forgotten: HashSet<u64> = bodies.iter().map(|(body, _)| *body as u64).collect();
    let id = bodies.first().map_or("", |(_, id)| id);
    if let Some(mut stored) = row::stored(connection, id)? {
        for leaf in stored.tree.leaves() {
            forgotten.remove(&leaf.body);
        }
        let mut is_changed = false;
        for body in stored
            .tree
            .bodies_mut()
            .filter(|body| forgotten.contains(body))
        {
            (*body, is_changed) = (0, true);
        }
        if is_changed {
            connection
                .prepare_cached("UPDATE docs SET tree = ?2 WHERE seq = ?1")?
                .execute((stored.head.seq as i64, stored.tree.encode()))?;
        }
    }
    let mut statement =
        connection.prepare_cached("DELETE FROM bodies WHERE id = ?1 RETURNING atts")?;
    for body in forgotten {
        let atts: Option<Option<String>> = statement
            .query_row([body as i64], |row| row.get(0))
            .optional()?;
        for record in Record::read_all(atts.flatten().as_deref())? {
            blobs::count(connection, record.blob, -1)?;
        }
    }
    Ok(())
}

/// Frees pages of the file. Returns false when none are left.
fn give_back(connection: &Connection) -> Result<bool> {
    let free = || connection.pragma_query_value(None, "freelist_count", |row| row.get::<_, u32>(0));
    if free()? == 0 {
        return Ok(false);
    }
    connection.execute_batch(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
    Ok(free()? > 0)
}
