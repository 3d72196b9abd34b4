//! Documents whose rows are applied to an index together.

use super::Result;
use super::key::{Collation, write_raw};
use super::node::{Corrupt, Emitted, Position, first_entry, keys, write_entry, write_keys};
use super::tree::Change;
use rusqlite::{Connection, OptionalExtension};
use serde_json::value::RawValue;
use std::ops::Range;

/// Documents with their rows. A document without rows loses those that it had.
#[derive(Debug, Default)]
pub struct Batch {
    documents: Vec<Document>,
    entries: Vec<Stored>,
    /// The entries of leaves, one after the other.
    bytes: Vec<u8>,
    keys: Vec<u8>,
}

#[derive(Debug)]
struct Document {
    id: String,
    /// Its entries.
    entries: Range<usize>,
    /// Why it was set aside, if it was.
    failure: Option<String>,
}

/// The entry of a leaf.
#[derive(Debug)]
struct Stored {
    view: usize,
    bytes: Range<usize>,
}

impl Batch {
    /// The number of documents.
    pub fn documents(&self) -> usize {
        self.documents.len()
    }

    /// Bytes of the entries.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Adds a document. The rows that are added next belong to it.
    pub fn add_document(&mut self, id: &str) {
        let end = self.entries.len();
        self.documents.push(Document {
            id: id.to_owned(),
            entries: end..end,
            failure: None,
        });
    }

    /// Adds a document that is set aside: it has no rows.
    pub fn add_failed(&mut self, id: &str, reason: String) {
        self.add_document(id);
        if let Some(document) = self.documents.last_mut() {
            document.failure = Some(reason);
        }
    }

    /// Adds the rows that the last document emits in a view, each a key and a value. `prefix` stands before all keys.
    pub fn add_rows(
        &mut self,
        view: usize,
        collation: Collation,
        prefix: &[u8],
        emitted: &[(&RawValue, &RawValue)],
    ) {
        let Some(document) = self.documents.last_mut() else {
            return;
        };
        let keys = &mut self.keys;
        keys.clear();
        let mut rows = Vec::with_capacity(emitted.len());
        for (key, value) in emitted {
            let (key, value, start) = (key.get(), value.get(), keys.len());
            keys.extend_from_slice(prefix);
            match collation.write_text(keys, key) {
                Ok(()) => rows.push((start..keys.len(), Emitted { key, value })),
                // A key of so many levels has no row.
                Err(_) => keys.truncate(start),
            }
        }
        if rows.len() > 1 {
            rows.sort_by(|(one, emitted), (other, other_emitted)| {
                let keys = keys[one.clone()].cmp(&keys[other.clone()]);
                keys.then_with(|| raw(emitted.value).cmp(&raw(other_emitted.value)))
            });
        }
        for same in rows.chunk_by(|(one, _), (other, _)| keys[one.clone()] == keys[other.clone()]) {
            let position = Position {
                key: &keys[same[0].0.clone()],
                id: document.id.as_bytes(),
            };
            let start = self.bytes.len();
            write_entry(
                &mut self.bytes,
                position,
                same.iter().map(|(_, emitted)| *emitted),
            );
            let bytes = start..self.bytes.len();
            self.entries.push(Stored { view, bytes });
        }
        document.entries.end = self.entries.len();
    }

    /// Puts the documents in order. Of a document that changed twice meanwhile the last rows count.
    pub fn keep_last(&mut self) {
        self.documents.sort_by(|one, other| one.id.cmp(&other.id));
        self.documents.dedup_by(|later, earlier| {
            let is_same = later.id == earlier.id;
            if is_same {
                std::mem::swap(later, earlier);
            }
            is_same
        });
    }

    /// Returns the changes of the tree of each view. `known` are the keys that the documents have in the index.
    ///
    /// # Errors
    /// If the known keys are damaged.
    pub fn changes<'a>(
        &'a self,
        views: usize,
        known: &'a [Option<Vec<u8>>],
    ) -> Result<Vec<Vec<Change<'a>>>> {
        let mut changes: Vec<Vec<Change<'_>>> = (0..views).map(|_| Vec::new()).collect();
        for (document, known) in self.documents.iter().zip(known) {
            for (view, key) in keys(known.as_deref().unwrap_or_default())? {
                let id = document.id.as_bytes();
                changes.get_mut(view).ok_or(Corrupt)?.push(Change {
                    position: Position { key, id },
                    entry: None,
                });
            }
            for stored in &self.entries[document.entries.clone()] {
                let entry = first_entry(&self.bytes[stored.bytes.clone()])?;
                changes[stored.view].push(Change {
                    position: entry.position,
                    entry: Some(entry),
                });
            }
        }
        Ok(changes)
    }
}

/// The order of the values that a document emits with one key: that of Erlang's terms, as in CouchDB.
fn raw(value: &str) -> Vec<u8> {
    let mut key = Vec::new();
    write_raw(&mut key, &serde_json::from_str(value).unwrap_or_default());
    key
}

/// Reads the keys that the documents of a batch have in the index.
///
/// # Errors
/// If they cannot be read.
pub fn known_keys(connection: &Connection, batch: &Batch) -> Result<Vec<Option<Vec<u8>>>> {
    let is_new = !connection
        .prepare_cached("SELECT 1 FROM docs LIMIT 1")?
        .exists([])?;
    if is_new {
        return Ok(vec![None; batch.documents.len()]);
    }
    let mut find = connection.prepare_cached("SELECT keys FROM docs WHERE id = ?1")?;
    let documents = batch.documents.iter();
    let known =
        documents.map(|document| find.query_row([&document.id], |row| row.get(0)).optional());
    Ok(known.collect::<rusqlite::Result<_>>()?)
}

/// Notes which documents of a batch are set aside, under these limits.
///
/// # Errors
/// If they cannot be written.
pub fn write_failed(connection: &Connection, batch: &Batch, limits: &str) -> Result<()> {
    let mut any = connection.prepare_cached("SELECT 1 FROM failed LIMIT 1")?;
    if any.exists([])? {
        let mut remove = connection.prepare_cached("DELETE FROM failed WHERE id = ?1")?;
        for document in &batch.documents {
            remove.execute([&document.id])?;
        }
    }
    let mut add = connection.prepare_cached("INSERT INTO failed VALUES (?1, ?2, ?3)")?;
    for document in &batch.documents {
        if let Some(reason) = &document.failure {
            add.execute((&document.id, reason, limits))?;
        }
    }
    Ok(())
}

/// Notes the keys that the documents of a batch have from now on.
///
/// # Errors
/// If they cannot be written.
pub fn write_documents(
    connection: &Connection,
    batch: &Batch,
    known: &[Option<Vec<u8>>],
) -> Result<()> {
    let mut set =
        connection.prepare_cached("INSERT OR REPLACE INTO docs(id, keys) VALUES (?1, ?2)")?;
    let mut remove = connection.prepare_cached("DELETE FROM docs WHERE id = ?1")?;
    let mut own = Vec::new();
    for (document, known) in batch.documents.iter().zip(known) {
        own.clear();
        for stored in &batch.entries[document.entries.clone()] {
            let entry = first_entry(&batch.bytes[stored.bytes.clone()])?;
            write_keys(&mut own, stored.view, entry.position.key);
        }
        match (own.is_empty(), known.is_some()) {
            (false, _) => set.execute((&document.id, &own))?,
            (true, true) => remove.execute([&document.id])?,
            (true, false) => 0,
        };
    }
    Ok(())
}
