//! A document's row and its other bodies, put in order after its tree has changed.

use super::writer::{New, Writer};
use crate::revision::{Node, Revision, Tree};
use crate::store::row::{self, Body, Head, Stored};
use crate::store::state::Count;
use crate::store::{Result, blobs, id, indexes};
use std::rc::Rc;

impl Writer<'_> {
    /// Updates a document's row from its new tree, with the next sequence. The tree contains the new revisions.
    pub(super) fn put(
        &mut self,
        id: &str,
        stored: Option<Rc<Stored>>,
        mut tree: Tree,
        new: Vec<New>,
    ) -> Result<()> {
        self.forget_last();
        for record in new.iter().flat_map(|new| &new.records) {
            blobs::count(self.connection, record.blob, 1)?;
        }
        let old_bytes = stored.as_ref().map_or(0, |it| it.external_bytes);
        if let Some(stored) = &stored {
            self.drop_bodies(&stored.tree, &tree)?;
            self.state.count(stored.head.deleted, old_bytes, Count::Out);
        }
        let Some(winner) = tree.winner().cloned() else {
            self.count_in_partition(id, old_bytes, 0);
            return self.remove(id, stored);
        };
        let old = stored.as_ref().map(|stored| &stored.head);
        let body = self.move_bodies(id, old, &winner, &mut tree, new)?;
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
        let bytes = match &body {
            Some(body) => row::external_bytes(body.text.len() as u64, body.atts.as_deref())?,
            None => old_bytes,
        };
        self.count_in_partition(id, old_bytes, bytes);
        self.state.count(winner.deleted, bytes, Count::In);
        if id.starts_with(id::DESIGN) {
            self.state.design_seq = seq;
            indexes::follow_designs(self.connection)?;
        }
        Ok(())
    }

    fn count_in_partition(&self, id: &str, old_bytes: u64, new_bytes: u64) {
        if let Some(limit) = &self.partitions {
            limit.count(id, old_bytes, new_bytes);
        }
    }

    /// Moves the bodies of other revisions out of the row. Returns the body for the row; `None` if it is unchanged.
    fn move_bodies(
        &self,
        id: &str,
        old: Option<&Head>,
        winner: &Node,
        tree: &mut Tree,
        new: Vec<New>,
    ) -> Result<Option<Body>> {
        let mut of_winner = None;
        for new in new {
            if new.revision == winner.revision {
                of_winner = Some(new.body);
                continue;
            }
            match tree.get_mut(&new.revision) {
                Some(node) => node.body = self.keep_body(id, &new.body)?,
                // Stemmed away at once.
                None => self.release(&new.body)?,
            }
        }
        if old.is_some_and(|old| old.revision == winner.revision) {
            return Ok(None);
        }
        if let Some(old) = old {
            let body = row::winner_body(self.connection, old.seq)?;
            match tree.get_mut(&old.revision) {
                Some(node) => node.body = self.keep_body(id, &body)?,
                None => self.release(&body)?,
            }
        }
        if of_winner.is_some() {
            return Ok(of_winner);
        }
        let body = row::other_body(self.connection, winner.body)?;
        self.forget_body(winner.body)?;
        if let Some(node) = tree.get_mut(&winner.revision) {
            node.body = 0;
        }
        Ok(Some(body))
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
    fn remove(&mut self, id: &str, stored: Option<Rc<Stored>>) -> Result<()> {
        if let Some(stored) = stored {
            let body = row::winner_body(self.connection, stored.head.seq)?;
            self.release(&body)?;
            self.delete_row(stored.head.seq)?;
        }
        self.state.update_seq += 1;
        if id.starts_with(id::DESIGN) {
            self.state.design_seq = self.state.update_seq;
            indexes::follow_designs(self.connection)?;
        }
        Ok(())
    }

    /// Purges leaf revisions. Returns the revisions that existed.
    pub fn purge(&mut self, id: &str, revisions: &[Revision]) -> Result<Vec<Revision>> {
        let Some(stored) = self.stored(id)? else {
            return Ok(Vec::new());
        };
        let mut tree = stored.tree.clone();
        let removed = tree.remove_leaves(revisions);
        if !removed.is_empty() {
            self.put(id, Some(stored), tree, Vec::new())?;
        }
        Ok(removed)
    }

    /// Deletes the bodies that only the old tree has, except for the winner's.
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
}
