//! One document after another, written within a job of the writing thread.

use super::attachment::Record;
use super::bulk::{Mode, Refusal, Validate, Written};
use super::encoder::Encoded;
use super::row::{self, Body, Stored};
use super::state::{Count, State};
use super::{Document, Error, GetOptions, Outcome, Result, blobs, id, local};
use crate::revision::{self, AttachmentDigest, History, Merge, Node, Revision, Term, Tree};
use rusqlite::Connection;

/// The bytes of an attachment, ready to be written.
#[derive(Debug)]
pub enum ReadyContent {
    /// Those of the revision before.
    Stub { revpos: Option<u64> },
    /// To be stored along.
    Encoded {
        encoded: Box<Encoded>,
        revpos: Option<u64>,
    },
    /// Stored already.
    Stored {
        content: super::StoredContent,
        revpos: Option<u64>,
    },
}

/// An attachment, ready to be written.
#[derive(Debug)]
pub struct ReadyAttachment {
    pub name: String,
    pub content_type: String,
    pub content: ReadyContent,
}

/// An edit, ready to be written.
#[derive(Debug)]
pub struct Ready {
    pub id: String,
    pub history: Option<History>,
    pub deleted: bool,
    pub body: String,
    pub term: Term,
    pub attachments: Vec<ReadyAttachment>,
}

/// A revision that is to be written.
struct New {
    revision: Revision,
    body: Body,
    records: Vec<Record>,
}

/// Writes documents in one savepoint, and the numbers at its end.
pub struct Writer<'a> {
    connection: &'a Connection,
    pub state: State,
}

/// Stops an edit: refused alone, or with all of the job.
enum Stop {
    Refused(Refusal),
    Failed(Error),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Stop::Refused(refusal)
    }
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Stop::Failed(error.into())
    }
}

impl<'a> Writer<'a> {
    pub fn new(connection: &'a Connection) -> Result<Self> {
        Ok(Writer {
            connection,
            state: State::read(connection)?,
        })
    }

    /// Writes the numbers; the sequence of the last change.
    pub fn finish(self) -> Result<u64> {
        self.state.write(self.connection)?;
        Ok(self.state.update_seq)
    }

    /// Writes one edit.
    pub fn edit(
        &mut self,
        edit: Ready,
        mode: Mode,
        validate: Option<&mut Validate>,
    ) -> Result<Outcome> {
        if edit.id.starts_with(id::LOCAL) {
            let (body, deleted) = (&edit.body, edit.deleted);
            return Ok(Ok(local::write(self.connection, &edit.id, body, deleted)?));
        }
        let written = match mode {
            Mode::New => self.new_edit(edit, validate),
            Mode::Replicated => self.replicated(edit, validate),
        };
        match written {
            Ok(written) => Ok(Ok(written)),
            Err(Stop::Refused(refusal)) => Ok(Err(refusal)),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    fn new_edit(
        &mut self,
        edit: Ready,
        validate: Option<&mut Validate>,
    ) -> std::result::Result<Written, Stop> {
        let stored = row::stored(self.connection, &edit.id)?;
        let given = edit.history.as_ref().map(History::revision);
        let parent = parent_of(stored.as_ref(), given.as_ref(), edit.deleted)?;
        // A document that was deleted and is made anew follows from its deletion, but has nothing of it.
        let before = given.and(parent.as_ref());
        let generation = parent.as_ref().map_or(0, |parent| parent.generation) + 1;
        let before = match (&stored, before) {
            (Some(stored), Some(before)) => stored.tree.get(before).cloned(),
            _ => None,
        };
        let records = self.records(&edit, stored.as_ref(), before.as_ref(), Some(generation))?;
        let digests: Vec<_> = records.iter().map(digest).collect();
        let revision = revision::next(edit.deleted, parent.as_ref(), &edit.term, &digests);
        let hashes = [Some(&revision), parent.as_ref()].into_iter().flatten();
        let hashes = hashes.map(|revision| revision.hash.clone()).collect();
        let history = History::new(revision.generation, hashes)
            .map_err(|error| Error::BadRequest(error.to_string()))?;
        self.write(edit, history, records, stored, before, validate)
    }

    fn replicated(
        &mut self,
        edit: Ready,
        validate: Option<&mut Validate>,
    ) -> std::result::Result<Written, Stop> {
        let Some(history) = edit.history.clone() else {
            let missing = "a replicated edit has no revision".to_owned();
            return Err(Refusal::BadRequest(missing).into());
        };
        let stored = row::stored(self.connection, &edit.id)?;
        let known = stored
            .as_ref()
            .and_then(|it| it.tree.get(&history.revision()));
        if known.is_some() {
            return self.lengthen(edit.id, history, stored);
        }
        let before = match &stored {
            Some(stored) => {
                let mut tree = stored.tree.clone();
                tree.merge(&history, edit.deleted, 0);
                let whole = tree.history(&history.revision());
                whole.and_then(|whole| stored.before(&whole).cloned())
            }
            None => None,
        };
        let records = self.records(&edit, stored.as_ref(), before.as_ref(), None)?;
        self.write(edit, history, records, stored, before, validate)
    }

    /// The revision is known: at most its history gets longer.
    fn lengthen(
        &mut self,
        id: String,
        history: History,
        stored: Option<Stored>,
    ) -> std::result::Result<Written, Stop> {
        let revision = history.revision();
        if let Some(stored) = stored {
            let mut tree = stored.tree.clone();
            tree.merge(&history, false, 0);
            tree.stem(self.state.revs_limit);
            if tree != stored.tree {
                self.put(&id, Some(stored), tree, None)?;
            }
        }
        Ok(Written { id, revision })
    }

    /// Validates and writes a revision that is not known.
    fn write(
        &mut self,
        edit: Ready,
        history: History,
        records: Vec<Record>,
        stored: Option<Stored>,
        before: Option<Node>,
        validate: Option<&mut Validate>,
    ) -> std::result::Result<Written, Stop> {
        let new = New {
            revision: history.revision(),
            body: Body {
                atts: Record::write_all(&records),
                text: edit.body,
            },
            records,
        };
        if let Some(validate) = validate {
            let proposed = self.proposed(&edit.id, edit.deleted, &history, &new)?;
            let before = match (&stored, &before) {
                (Some(stored), Some(node)) => {
                    stored.document(self.connection, node, &GetOptions::default())?
                }
                _ => None,
            };
            validate(&proposed, before.as_ref())?;
        }
        let mut tree = stored
            .as_ref()
            .map(|it| it.tree.clone())
            .unwrap_or_default();
        if tree.merge(&history, edit.deleted, 0) == Merge::Known {
            // The same edit on the same revision, twice.
            return Err(Refusal::Conflict.into());
        }
        tree.stem(self.state.revs_limit);
        let revision = new.revision.clone();
        self.put(&edit.id, stored, tree, Some(new))?;
        Ok(Written {
            id: edit.id,
            revision,
        })
    }

    /// The document as a validation function sees it.
    fn proposed(&self, id: &str, deleted: bool, history: &History, new: &New) -> Result<Document> {
        let head = row::Head {
            seq: 0,
            id: id.to_owned(),
            deleted,
            revision: new.revision.clone(),
        };
        let options = GetOptions::default();
        let mut document = row::document(self.connection, head, new.body.clone(), &options)?;
        document.history = Some(history.clone());
        Ok(document)
    }

    /// Finds or stores the bytes of an edit's attachments. `generation` is that of a new edit; a replicated one says itself.
    fn records(
        &self,
        edit: &Ready,
        stored: Option<&Stored>,
        before: Option<&Node>,
        generation: Option<u64>,
    ) -> std::result::Result<Vec<Record>, Stop> {
        if edit.attachments.is_empty() {
            return Ok(Vec::new());
        }
        let is_stub = |it: &ReadyAttachment| matches!(it.content, ReadyContent::Stub { .. });
        let known = match (stored, before) {
            (Some(stored), Some(before)) if edit.attachments.iter().any(is_stub) => {
                let body = stored.body(self.connection, before)?;
                body.map_or(Ok(Vec::new()), |body| body.records())?
            }
            _ => Vec::new(),
        };
        let own = edit.history.as_ref().map_or(1, History::start);
        let revpos = |given: &Option<u64>| generation.or(*given).unwrap_or(own);
        let mut records = Vec::with_capacity(edit.attachments.len());
        for attachment in &edit.attachments {
            let (name, content_type) = (attachment.name.clone(), attachment.content_type.clone());
            records.push(match &attachment.content {
                ReadyContent::Stub { revpos } => known
                    .iter()
                    .find(|it| it.name == name && revpos.is_none_or(|revpos| revpos == it.revpos))
                    .cloned()
                    .ok_or_else(|| Refusal::MissingStub {
                        id: edit.id.clone(),
                        name,
                    })?,
                ReadyContent::Encoded {
                    encoded,
                    revpos: given,
                } => Record {
                    name,
                    content_type,
                    revpos: revpos(given),
                    md5: encoded.md5,
                    length: encoded.length,
                    stored_length: encoded.stored_length,
                    encoding: encoded.encoding,
                    blob: blobs::store(self.connection, &encoded.sha256, &encoded.rest)?,
                },
                ReadyContent::Stored {
                    content,
                    revpos: given,
                } => Record {
                    name,
                    content_type,
                    revpos: revpos(given),
                    md5: content.md5,
                    length: content.length,
                    stored_length: content.stored_length,
                    encoding: content.encoding,
                    blob: content.blob(),
                },
            });
        }
        Ok(records)
    }

    /// Puts a document's row in order with its new tree, and gives it the next sequence. A new revision is in the tree.
    fn put(
        &mut self,
        id: &str,
        stored: Option<Stored>,
        mut tree: Tree,
        new: Option<New>,
    ) -> Result<()> {
        for record in new.iter().flat_map(|new| &new.records) {
            blobs::count(self.connection, record.blob, 1)?;
        }
        if let Some(stored) = &stored {
            self.drop_bodies(&stored.tree, &tree)?;
            self.count(stored, Count::Out)?;
        }
        let Some(winner) = tree.winner().cloned() else {
            return self.remove(id, stored);
        };
        let old = stored.as_ref().map(|stored| &stored.head);
        if let Some(new) = new.as_ref().filter(|new| new.revision != winner.revision) {
            let kept = self.keep_body(id, &new.body)?;
            if let Some(node) = tree.get_mut(&new.revision) {
                node.body = kept;
            }
        }
        let stays = old.is_some_and(|old| old.revision == winner.revision);
        if let Some(old) = old.filter(|_| !stays) {
            let body = row::winner_body(self.connection, old.seq)?;
            match tree.get_mut(&old.revision) {
                Some(node) => node.body = self.keep_body(id, &body)?,
                None => self.release(&body)?,
            }
        }
        let body = match new {
            _ if stays => None,
            Some(new) if new.revision == winner.revision => Some(new.body),
            _ => {
                let body = row::other_body(self.connection, winner.body)?;
                self.forget_body(winner.body)?;
                Some(body)
            }
        };
        if let Some(node) = tree.get_mut(&winner.revision) {
            node.body = 0;
        }
        self.state.update_seq += 1;
        let seq = self.state.update_seq;
        self.write_row(
            id,
            old.map(|old| old.seq),
            seq,
            &winner,
            &tree,
            body.as_ref(),
        )?;
        self.count_in(seq, winner.deleted)?;
        if id.starts_with(id::DESIGN) {
            self.state.design_seq = seq;
            crate::mango::design_changed(self.connection)?;
        }
        Ok(())
    }

    fn write_row(
        &self,
        id: &str,
        old_seq: Option<u64>,
        seq: u64,
        winner: &Node,
        tree: &Tree,
        body: Option<&Body>,
    ) -> Result<()> {
        let tree = tree.encode();
        let Some(body) = body else {
            let sql = "UPDATE docs SET seq = ?2, tree = ?3 WHERE seq = ?1";
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.execute((old_seq.unwrap_or_default() as i64, seq as i64, tree))?;
            return Ok(());
        };
        if let Some(old_seq) = old_seq {
            self.delete_row(old_seq)?;
        }
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO docs(seq, id, deleted, gen, hash, tree, atts, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?;
        let generation = winner.revision.generation as i64;
        let hash = winner.revision.hash.as_bytes();
        let (atts, text) = (&body.atts, &body.text);
        statement.execute((
            seq as i64,
            id,
            winner.deleted,
            generation,
            hash,
            tree,
            atts,
            text,
        ))?;
        Ok(())
    }

    fn delete_row(&self, seq: u64) -> Result<()> {
        let mut statement = self
            .connection
            .prepare_cached("DELETE FROM docs WHERE seq = ?1")?;
        statement.execute([seq as i64])?;
        Ok(())
    }

    /// Nothing of the document is left: its last revision was purged.
    fn remove(&mut self, id: &str, stored: Option<Stored>) -> Result<()> {
        if let Some(stored) = stored {
            let body = row::winner_body(self.connection, stored.head.seq)?;
            self.release(&body)?;
            self.delete_row(stored.head.seq)?;
        }
        self.state.update_seq += 1;
        if id.starts_with(id::DESIGN) {
            self.state.design_seq = self.state.update_seq;
            crate::mango::design_changed(self.connection)?;
        }
        Ok(())
    }

    /// Forgets leaves. Those that were there.
    pub fn purge(&mut self, id: &str, revisions: &[Revision]) -> Result<Vec<Revision>> {
        let Some(stored) = row::stored(self.connection, id)? else {
            return Ok(Vec::new());
        };
        let mut tree = stored.tree.clone();
        let removed = tree.remove_leaves(revisions);
        if !removed.is_empty() {
            self.put(id, Some(stored), tree, None)?;
        }
        Ok(removed)
    }

    /// Lets go of the bodies that only the old tree has, the winner's aside.
    fn drop_bodies(&self, old: &Tree, new: &Tree) -> Result<()> {
        for node in old.nodes().iter().filter(|node| node.body != 0) {
            if new.get(&node.revision).is_none() {
                let body = row::other_body(self.connection, node.body)?;
                self.release(&body)?;
                self.forget_body(node.body)?;
            }
        }
        Ok(())
    }

    fn keep_body(&self, id: &str, body: &Body) -> Result<u64> {
        let sql = "INSERT INTO bodies(doc, atts, body) VALUES (?1, ?2, ?3)";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.insert((id, &body.atts, &body.text))? as u64)
    }

    fn forget_body(&self, body: u64) -> Result<()> {
        let mut statement = self
            .connection
            .prepare_cached("DELETE FROM bodies WHERE id = ?1")?;
        statement.execute([body as i64])?;
        Ok(())
    }

    /// Counts the attachments of a body that goes.
    fn release(&self, body: &Body) -> Result<()> {
        for record in body.records()? {
            blobs::count(self.connection, record.blob, -1)?;
        }
        Ok(())
    }

    fn count(&mut self, stored: &Stored, change: Count) -> Result<()> {
        let bytes = self.external_bytes(stored.head.seq)?;
        self.state.count(stored.head.deleted, bytes, change);
        Ok(())
    }

    fn count_in(&mut self, seq: u64, deleted: bool) -> Result<()> {
        let bytes = self.external_bytes(seq)?;
        self.state.count(deleted, bytes, Count::In);
        Ok(())
    }

    /// Bytes of a winner's body and of its attachments, decoded.
    fn external_bytes(&self, seq: u64) -> Result<u64> {
        let sql = "SELECT octet_length(body), atts FROM docs WHERE seq = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let (bytes, atts) = statement.query_row([seq as i64], |row| {
            Ok((
                super::state::number(row, 0)?,
                row.get::<_, Option<String>>(1)?,
            ))
        })?;
        let records = Record::read_all(atts.as_deref())?;
        Ok(bytes + records.iter().map(|record| record.length).sum::<u64>())
    }
}

/// The revision a new edit follows from.
fn parent_of(
    stored: Option<&Stored>,
    given: Option<&Revision>,
    deleted: bool,
) -> std::result::Result<Option<Revision>, Refusal> {
    match (stored, given) {
        (None, None) => Ok(None),
        // All leaves are deletions: the document can only begin anew.
        (Some(stored), None) if stored.head.deleted && !deleted => {
            Ok(Some(stored.head.revision.clone()))
        }
        (Some(stored), Some(given)) if !stored.head.deleted && stored.tree.is_leaf(given) => {
            Ok(Some(given.clone()))
        }
        _ => Err(Refusal::Conflict),
    }
}

fn digest(record: &Record) -> AttachmentDigest<'_> {
    AttachmentDigest {
        name: &record.name,
        content_type: &record.content_type,
        md5: &record.md5,
    }
}
