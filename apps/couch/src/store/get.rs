//! Reads revisions of a document.

use super::row::{self, Head};
use super::{Document, Error, GetOptions, Missing, Result};
use crate::revision::{Node, Revision};
use rusqlite::{Connection, OptionalExtension};

/// One answer to `open_revs`.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// The revision.
    Document(Box<Document>),
    /// Nothing of this revision is kept.
    Missing(Revision),
}

const MISSING: Error = Error::NotFound(Missing::Missing);

/// Reads a document. Several statements: in a snapshot.
pub fn get(connection: &Connection, id: &str, options: &GetOptions) -> Result<Document> {
    let Some(revision) = &options.revision else {
        let document = row::winner(connection, id, options)?;
        return match document.deleted {
            true => Err(Error::NotFound(Missing::Deleted)),
            false => Ok(document),
        };
    };
    let stored = row::stored(connection, id)?.ok_or(MISSING)?;
    let node = match options.latest {
        true => stored.tree.leaves_after(revision).first().copied(),
        false => stored.tree.get(revision),
    };
    let found = stored.document(connection, node.ok_or(MISSING)?, options)?;
    found.ok_or(MISSING)
}

/// The winner's name, also a deletion's.
pub fn head(connection: &Connection, id: &str) -> Result<Head> {
    let mut statement =
        connection.prepare_cached("SELECT seq, id, deleted, gen, hash FROM docs WHERE id = ?1")?;
    let head = statement.query_row([id], Head::from_row).optional()?;
    head.ok_or(MISSING)
}

/// Reads some revisions, or all leaves.
pub fn open_revs(
    connection: &Connection,
    id: &str,
    revisions: Option<&[Revision]>,
    options: &GetOptions,
) -> Result<Vec<Found>> {
    let Some(stored) = row::stored(connection, id)? else {
        let missing = revisions.unwrap_or_default().iter().cloned();
        return Ok(missing.map(Found::Missing).collect());
    };
    let mut nodes: Vec<std::result::Result<&Node, Revision>> = Vec::new();
    match revisions {
        None => nodes.extend(stored.tree.leaves().into_iter().map(Ok)),
        Some(revisions) => {
            for revision in revisions {
                let found = match options.latest {
                    true => stored.tree.leaves_after(revision),
                    false => stored.tree.get(revision).into_iter().collect(),
                };
                if found.is_empty() {
                    nodes.push(Err(revision.clone()));
                }
                for node in found {
                    if !nodes.contains(&Ok(node)) {
                        nodes.push(Ok(node));
                    }
                }
            }
        }
    }
    let read = |node: std::result::Result<&Node, Revision>| match node {
        Err(revision) => Ok(Found::Missing(revision)),
        Ok(node) => Ok(match stored.document(connection, node, options)? {
            Some(document) => Found::Document(Box::new(document)),
            None => Found::Missing(node.revision.clone()),
        }),
    };
    nodes.into_iter().map(read).collect()
}
