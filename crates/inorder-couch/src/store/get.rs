//! Which of a document is read.

use super::row::{self, Head, needs_tree};
use super::{Document, Error, Missing, Result};
use crate::revision::{Node, Revision};
use rusqlite::{Connection, OptionalExtension};

/// Which attachments come with their bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AttachmentOption {
    /// None of them.
    #[default]
    Stubs,
    /// All, in the JSON.
    Inline,
    /// All, as parts that follow the JSON.
    Follow,
    /// Those that came after these revisions, in the JSON (`atts_since`).
    InlineSince(Vec<Revision>),
    /// The same, as parts that follow.
    FollowSince(Vec<Revision>),
}

/// What of a document is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GetOptions {
    /// The revision; none for the winner.
    pub revision: Option<Revision>,
    /// Instead of the revision, the leaf that came of it.
    pub latest: bool,
    /// With the way to the revision.
    pub revs: bool,
    /// With what is left of each revision on the way.
    pub revs_info: bool,
    /// With the other leaves.
    pub conflicts: bool,
    /// With the other leaves that are deletions.
    pub deleted_conflicts: bool,
    /// With the sequence of the last change.
    pub local_seq: bool,
    /// Which attachments come with their bytes.
    pub attachments: AttachmentOption,
    /// With how attachments are stored (`encoding`, `encoded_length`).
    pub att_encoding_info: bool,
}

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
        let document = winner(connection, id, options)?;
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

/// Reads the winner, also a deletion.
pub fn winner(connection: &Connection, id: &str, options: &GetOptions) -> Result<Document> {
    if !needs_tree(options) {
        let (head, body) = row::whole(connection, id)?.ok_or(MISSING)?;
        return row::document(connection, head, body, options);
    }
    let stored = row::stored(connection, id)?.ok_or(MISSING)?;
    let node = stored.tree.get(&stored.head.revision).ok_or(MISSING)?;
    let found = stored.document(connection, node, options)?;
    found.ok_or(MISSING)
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
