//! Rows of documents, and what is read of them.

use super::attachment::Record;
use super::document::{Conflicts, RevisionInfo, RevisionStatus};
use super::options::{AttachmentOption, GetOptions};
use super::state::{State, number};
use super::{Attachment, Content, Document, Error, Missing, Result};
use crate::revision::{History, Node, Revision, RevisionHash, Tree};
use rusqlite::{Connection, OptionalExtension, Row};

/// The columns that [`Head::from_row`] reads.
pub const HEAD: &str = "seq, id, deleted, gen, hash";

/// The winner of a document, without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub seq: u64,
    pub id: String,
    pub deleted: bool,
    pub revision: Revision,
}

impl Head {
    pub fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Head {
            seq: number(row, 0)?,
            id: row.get(1)?,
            deleted: row.get(2)?,
            revision: revision(row, 3)?,
        })
    }
}

/// The revision in two columns: generation and hash.
pub fn revision(row: &Row<'_>, index: usize) -> rusqlite::Result<Revision> {
    let hash = row.get_ref(index + 1)?.as_blob()?;
    let hash = RevisionHash::from_bytes(hash);
    let hash = hash.ok_or_else(|| rusqlite::Error::IntegralValueOutOfRange(index + 1, 0))?;
    Ok(Revision {
        generation: number(row, index)?,
        hash,
    })
}

/// A body and the attachments that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    pub atts: Option<String>,
    pub text: String,
}

impl Body {
    fn from_row(row: &Row<'_>, index: usize) -> rusqlite::Result<Self> {
        Ok(Body {
            atts: row.get(index)?,
            text: row.get(index + 1)?,
        })
    }

    pub fn records(&self) -> Result<Vec<Record>> {
        Record::read_all(self.atts.as_deref())
    }
}

/// A document's winner and its tree.
#[derive(Clone, Debug)]
pub struct Stored {
    pub head: Head,
    pub tree: Tree,
    /// Bytes of the winner's body and of its attachments, decoded.
    pub external_bytes: u64,
}

/// Whether the tree is needed to answer.
pub fn needs_tree(options: &GetOptions) -> bool {
    let wants_since = matches!(
        options.attachments,
        AttachmentOption::InlineSince(_) | AttachmentOption::FollowSince(_)
    );
    options.revision.is_some()
        || options.revs
        || options.revs_info
        || options.conflicts
        || options.deleted_conflicts
        || wants_since
}

/// The winner and the tree of a document.
pub fn stored(connection: &Connection, id: &str) -> Result<Option<Stored>> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, id, deleted, gen, hash, tree, octet_length(body), atts FROM docs WHERE id = ?1",
    )?;
    let mut rows = statement.query([id])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let tree = row.get_ref(5)?.as_blob().map_err(rusqlite::Error::from)?;
    let atts: Option<String> = row.get(7)?;
    Ok(Some(Stored {
        head: Head::from_row(row)?,
        tree: Tree::decode(tree)?,
        external_bytes: external_bytes(number(row, 6)?, atts.as_deref())?,
    }))
}

/// Bytes of a body and of its attachments, decoded.
pub fn external_bytes(body_bytes: u64, atts: Option<&str>) -> Result<u64> {
    let records = Record::read_all(atts)?;
    let lengths = records.iter().map(|record| record.length);
    Ok(body_bytes + lengths.sum::<u64>())
}

/// The columns that [`whole_from_row`] reads.
pub const WHOLE: &str = "seq, id, deleted, gen, hash, atts, body";

/// The winner and its body.
pub fn whole_from_row(row: &Row<'_>) -> rusqlite::Result<(Head, Body)> {
    Ok((Head::from_row(row)?, Body::from_row(row, 5)?))
}

/// The winner and its body.
pub fn whole(connection: &Connection, id: &str) -> Result<Option<(Head, Body)>> {
    let mut statement = connection
        .prepare_cached("SELECT seq, id, deleted, gen, hash, atts, body FROM docs WHERE id = ?1")?;
    Ok(statement.query_row([id], whole_from_row).optional()?)
}

/// Reads the winner, also a deletion.
pub fn winner(connection: &Connection, id: &str, options: &GetOptions) -> Result<Document> {
    const MISSING: Error = Error::NotFound(Missing::Missing);
    if !needs_tree(options) {
        let (head, body) = whole(connection, id)?.ok_or(MISSING)?;
        return document(head, body, options);
    }
    let found = stored(connection, id)?.ok_or(MISSING)?;
    let node = found.tree.get(&found.head.revision).ok_or(MISSING)?;
    let found = found.document(connection, node, options)?;
    found.ok_or(MISSING)
}

/// A row with the columns of [`WHOLE`] as a document.
pub fn winner_from_row(
    connection: &Connection,
    row: &Row<'_>,
    options: &GetOptions,
) -> Result<Document> {
    if needs_tree(options) {
        let id: String = row.get(1)?;
        return winner(connection, &id, options);
    }
    let (head, body) = whole_from_row(row)?;
    document(head, body, options)
}

/// A document that is there and not deleted.
pub fn living(connection: &Connection, id: &str) -> Result<Option<Document>> {
    let Some((head, body)) = whole(connection, id)?.filter(|(head, _)| !head.deleted) else {
        return Ok(None);
    };
    document(head, body, &GetOptions::default()).map(Some)
}

/// The body of the winner in the row of this sequence.
pub fn winner_body(connection: &Connection, seq: u64) -> Result<Body> {
    let mut statement = connection.prepare_cached("SELECT atts, body FROM docs WHERE seq = ?1")?;
    Ok(statement.query_row([seq as i64], |row| Body::from_row(row, 0))?)
}

/// A body kept beside the winner's.
pub fn other_body(connection: &Connection, id: u64) -> Result<Body> {
    let mut statement = connection.prepare_cached("SELECT atts, body FROM bodies WHERE id = ?1")?;
    Ok(statement.query_row([id as i64], |row| Body::from_row(row, 0))?)
}

impl Stored {
    /// Whether the body of a revision is kept.
    pub fn has_body(&self, node: &Node) -> bool {
        node.body != 0 || node.revision == self.head.revision
    }

    /// The body of a revision; none when it is not kept.
    pub fn body(&self, connection: &Connection, node: &Node) -> Result<Option<Body>> {
        if node.revision == self.head.revision {
            return winner_body(connection, self.head.seq).map(Some);
        }
        match node.body {
            0 => Ok(None),
            id => other_body(connection, id).map(Some),
        }
    }

    /// A revision as a document; none when its body is not kept.
    pub fn document(
        &self,
        connection: &Connection,
        node: &Node,
        options: &GetOptions,
    ) -> Result<Option<Document>> {
        let Some(body) = self.body(connection, node)? else {
            return Ok(None);
        };
        let head = Head {
            revision: node.revision.clone(),
            deleted: node.deleted,
            ..self.head.clone()
        };
        let mut document = document(head, body, options)?;
        self.add_history(connection, &mut document, options)?;
        Ok(Some(document))
    }

    fn add_history(
        &self,
        connection: &Connection,
        document: &mut Document,
        options: &GetOptions,
    ) -> Result<()> {
        if options.conflicts || options.deleted_conflicts {
            document.conflicts = self.conflicts(&document.revision, options);
        }
        let Some(history) = self.tree.history(&document.revision) else {
            return Ok(());
        };
        if options.revs_info {
            let info = history.revisions().map(|revision| self.info(revision));
            document.revisions_info = info.collect();
        }
        let (since, is_inline) = match &options.attachments {
            AttachmentOption::InlineSince(since) => (Some(since), true),
            AttachmentOption::FollowSince(since) => (Some(since), false),
            _ => (None, false),
        };
        if let Some(since) = since {
            let mut revisions = history.revisions();
            let known = revisions.find(|revision| since.contains(revision));
            let known = known.map_or(0, |revision| revision.generation);
            let newer = |attachment: &&mut Attachment| attachment.revpos > known;
            for attachment in document.attachments.iter_mut().filter(newer) {
                attachment.content = match is_inline {
                    true => Content::Inline,
                    false => Content::Follows,
                };
            }
        }
        if options.revs {
            // Also what was written before the limit was lowered.
            let limit = State::read(connection)?.revs_limit;
            document.history = Some(history.truncated(limit));
        }
        Ok(())
    }

    fn conflicts(&self, shown: &Revision, options: &GetOptions) -> Conflicts {
        let mut conflicts = Conflicts::default();
        for leaf in self.tree.leaves() {
            let (is_wanted, list) = match leaf.deleted {
                true => (options.deleted_conflicts, &mut conflicts.deleted_conflicts),
                false => (options.conflicts, &mut conflicts.conflicts),
            };
            if is_wanted && leaf.revision != *shown {
                list.push(leaf.revision.clone());
            }
        }
        conflicts
    }

    /// The winner as an index sees it: with conflicts, and with attachments as stubs.
    pub fn as_indexed(&self, body: Body) -> Result<Document> {
        let options = GetOptions {
            conflicts: true,
            deleted_conflicts: true,
            ..GetOptions::default()
        };
        let records = body.records()?.into_iter();
        Ok(Document {
            attachments: records
                .map(|record| record.into_attachment(false))
                .collect(),
            conflicts: self.conflicts(&self.head.revision, &options),
            ..Document::of(self.head.clone(), body.text)
        })
    }

    fn info(&self, revision: Revision) -> RevisionInfo {
        let status = match self.tree.get(&revision) {
            Some(node) if !self.has_body(node) => RevisionStatus::Missing,
            Some(node) if node.deleted => RevisionStatus::Deleted,
            Some(_) => RevisionStatus::Available,
            None => RevisionStatus::Missing,
        };
        RevisionInfo { revision, status }
    }

    /// The nearest revision before the newest of a way, known or not, whose body is kept.
    pub fn before(&self, history: &History) -> Option<Node> {
        let kept = |revision| self.tree.get(&revision).filter(|node| self.has_body(node));
        let mut before = history.ancestors(|revision| self.tree.parent(revision));
        before.find_map(kept).cloned()
    }
}

/// A document without what its tree says.
pub fn document(head: Head, body: Body, options: &GetOptions) -> Result<Document> {
    let mut attachments = Vec::new();
    for record in body.records()? {
        let mut attachment = record.into_attachment(options.att_encoding_info);
        attachment.content = match options.attachments {
            AttachmentOption::Inline => Content::Inline,
            AttachmentOption::Follow => Content::Follows,
            _ => Content::Stub,
        };
        attachments.push(attachment);
    }
    Ok(Document {
        attachments,
        local_seq: options.local_seq.then_some(head.seq),
        ..Document::of(head, body.text)
    })
}

impl Document {
    fn of(head: Head, body: String) -> Document {
        Document {
            id: head.id,
            revision: head.revision,
            deleted: head.deleted,
            body,
            attachments: Vec::new(),
            history: None,
            revisions_info: Vec::new(),
            conflicts: Conflicts::default(),
            local_seq: None,
        }
    }
}
