//! The documents that changed after a sequence, as map functions see them.

use super::row::{self, WHOLE};
use super::state::State;
use super::{Document, GetOptions, Result, id};
use crate::revision::Tree;
use rusqlite::{Connection, OptionalExtension, Row};

/// Documents of a page.
const PAGE_DOCUMENTS_MAX: usize = 1000;

/// Bytes of documents after which a page ends.
const PAGE_BYTES_MAX: usize = 1 << 20;

/// Which documents are given to map functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Indexing {
    /// Design documents, too.
    pub include_design: bool,
    /// With the sequence of their last change.
    pub local_seq: bool,
}

/// A document that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indexed {
    /// Its id.
    pub id: String,
    /// The winning revision, JSON, with its conflicts; none when it is deleted or not given to map functions.
    pub text: Option<String>,
}

/// Some changed documents, in the order of their sequences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexPage {
    /// The documents.
    pub documents: Vec<Indexed>,
    /// The sequence up to which these are all.
    pub last_seq: u64,
    /// Whether there is nothing more.
    pub is_last: bool,
}

/// The sequences that an index goes by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sequences {
    /// The last change.
    pub update: u64,
    /// The last purge.
    pub purge: u64,
    /// The last change of a design document.
    pub design: u64,
}

/// Reads the sequences.
pub fn sequences(connection: &Connection) -> Result<Sequences> {
    let state = State::read(connection)?;
    Ok(Sequences {
        update: state.update_seq,
        purge: state.purge_seq,
        design: state.design_seq,
    })
}

/// Reads the documents after a sequence, all from one snapshot.
pub fn page(connection: &Connection, since: u64, indexing: Indexing) -> Result<IndexPage> {
    let sql = format!("SELECT {WHOLE}, tree FROM docs NOT INDEXED WHERE seq > ?1 ORDER BY seq");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([since as i64])?;
    let (mut documents, mut bytes, mut last_seq) = (Vec::new(), 0, since);
    while let Some(row) = rows.next()? {
        if documents.len() >= PAGE_DOCUMENTS_MAX || bytes >= PAGE_BYTES_MAX {
            return Ok(IndexPage {
                documents,
                last_seq,
                is_last: false,
            });
        }
        let (head, body) = row::whole_from_row(row)?;
        last_seq = head.seq;
        let is_hidden = head.id.starts_with(id::DESIGN) && !indexing.include_design;
        if head.deleted || is_hidden {
            let text = None;
            documents.push(Indexed { id: head.id, text });
            continue;
        }
        let options = GetOptions {
            local_seq: indexing.local_seq,
            ..GetOptions::default()
        };
        let mut document = row::document(head, body, &options)?;
        add_conflicts(row, &mut document)?;
        let text = document.to_json();
        bytes += text.len();
        documents.push(Indexed {
            id: document.id,
            text: Some(text),
        });
    }
    Ok(IndexPage {
        documents,
        last_seq: last_seq.max(State::read(connection)?.update_seq),
        is_last: true,
    })
}

fn add_conflicts(row: &Row<'_>, document: &mut Document) -> Result<()> {
    let tree = row.get_ref(7)?.as_blob().map_err(rusqlite::Error::from)?;
    let tree = Tree::decode(tree)?;
    let leaves = tree.leaves().into_iter();
    for leaf in leaves.filter(|leaf| leaf.revision != document.revision) {
        let list = match leaf.deleted {
            true => &mut document.conflicts.deleted_conflicts,
            false => &mut document.conflicts.conflicts,
        };
        list.push(leaf.revision.clone());
    }
    Ok(())
}

/// Reads the revision of the last change at or before a sequence: tells a database from an older copy of it.
pub fn mark(connection: &Connection, seq: u64) -> Result<Option<(u64, Vec<u8>)>> {
    let sql = "SELECT seq, hash FROM docs WHERE seq <= ?1 ORDER BY seq DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([seq as i64], |row| {
        Ok((row.get::<_, i64>(0)? as u64, row.get(1)?))
    });
    Ok(found.optional()?)
}

/// Reads the hash of the winner whose last change has a sequence.
pub fn hash_at(connection: &Connection, seq: u64) -> Result<Option<Vec<u8>>> {
    let mut statement = connection.prepare_cached("SELECT hash FROM docs WHERE seq = ?1")?;
    Ok(statement
        .query_row([seq as i64], |row| row.get(0))
        .optional()?)
}

/// Of some documents those that are not there at all.
pub fn missing(connection: &Connection, ids: &[String]) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM docs WHERE id = ?1")?;
    let mut missing = Vec::new();
    for id in ids {
        if !statement.exists([id])? {
            missing.push(id.clone());
        }
    }
    Ok(missing)
}
