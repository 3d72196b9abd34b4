//! Writes several edits of one document.

use super::proposal::{Draft, Progress};
use super::writer::{Ground, New, Stop, Writer};
use crate::revision::{Growth, History, Node, Revision};
use crate::store::attachment::Record;
use crate::store::row::{Body, Stored};
use crate::store::{Outcome, Refusal, Result, Written};
use std::collections::HashSet;
use std::rc::Rc;

/// Revisions of a document that are added to it together.
struct Group {
    stored: Option<Rc<Stored>>,
    tree: Growth,
    /// The new revisions, and which they are.
    new: Vec<New>,
    is_new: HashSet<Revision>,
    is_changed: bool,
}

impl Group {
    fn new(stored: Option<Rc<Stored>>) -> Self {
        let tree = stored.as_ref().map(|it| Growth::from(&it.tree));
        Group {
            stored,
            tree: tree.unwrap_or_default(),
            new: Vec::new(),
            is_new: HashSet::new(),
            is_changed: false,
        }
    }

    /// The nearest ancestor of a new revision whose body is kept.
    fn before(&self, history: &History) -> Option<Node> {
        let mut before = history.ancestors(|revision| self.tree.parent(revision));
        before.find_map(|revision| {
            if self.is_new.contains(&revision) {
                let (deleted, body) = (false, 0);
                return Some(Node {
                    revision,
                    deleted,
                    body,
                });
            }
            let stored = self.stored.as_ref()?;
            let node = stored.tree.get(&revision);
            node.filter(|node| stored.has_body(node)).cloned()
        })
    }
}

impl Writer<'_> {
    /// Writes replicated edits of one document in their order, and its row once: one by one, each would take time in the size of
    /// the tree.
    pub fn replicated_of_one(
        &mut self,
        id: &str,
        drafts: Vec<(usize, Draft)>,
    ) -> Result<Vec<(usize, Progress)>> {
        let mut done = Vec::with_capacity(drafts.len());
        let mut group = Group::new(self.stored(id)?);
        for (index, draft) in drafts {
            let needs_before = draft.consent.needs_before() || draft.ready.has_stubs();
            let history = draft.ready.history.as_ref();
            let before = history.filter(|_| needs_before);
            let before = before.and_then(|history| group.before(history));
            let is_written = |node: &Node| !group.is_new.contains(&node.revision);
            if draft.ready.has_stubs() && !before.as_ref().is_none_or(is_written) {
                // The attachments are found once that revision is written.
                self.end(id, group)?;
                group = Group::new(self.stored(id)?);
            }
            let before = before.and_then(|node| match group.stored.as_ref() {
                Some(stored) => stored.tree.get(&node.revision).cloned().or(Some(node)),
                None => Some(node),
            });
            done.push((index, self.add(&mut group, draft, before)?));
        }
        self.end(id, group)?;
        Ok(done)
    }

    /// Adds an edit to a group.
    fn add(&mut self, group: &mut Group, draft: Draft, before: Option<Node>) -> Result<Progress> {
        let Some(history) = draft.ready.history.clone() else {
            let missing = Refusal::BadRequest("a replicated edit has no revision".to_owned());
            return Ok(Progress::Done(Err(missing)));
        };
        let written = Written {
            id: draft.id().to_owned(),
            revision: history.revision(),
        };
        if group.tree.contains(&written.revision) {
            // Known: at most its history gets longer.
            group.is_changed |= group.tree.merge(&history, false).1;
            return Ok(Progress::Done(Ok(written)));
        }
        let ground = Ground {
            stored: None,
            parent: None,
            before,
            is_known: false,
        };
        if !self.has_consent(&draft, &ground) {
            return Ok(Progress::Stale(draft));
        }
        let outcome: Outcome = match self.add_new(group, draft, &history, ground.before.as_ref()) {
            Ok(()) => Ok(written),
            Err(Stop::Refused(refusal)) => Err(refusal),
            Err(Stop::Failed(error)) => return Err(error),
        };
        Ok(Progress::Done(outcome))
    }

    fn add_new(
        &mut self,
        group: &mut Group,
        draft: Draft,
        history: &History,
        before: Option<&Node>,
    ) -> std::result::Result<(), Stop> {
        let edit = draft.ready;
        let mut records = self.records(&edit, group.stored.as_deref(), before, None)?;
        self.store_attachments(edit.attachments, &mut records)?;
        group.tree.merge(history, edit.deleted);
        let revision = history.revision();
        group.is_new.insert(revision.clone());
        group.new.push(New {
            revision,
            body: Body {
                atts: Record::write_all(&records),
                text: edit.body,
            },
            records,
        });
        Ok(())
    }

    /// Writes the document of a group.
    fn end(&mut self, id: &str, group: Group) -> Result<()> {
        if group.new.is_empty() && !group.is_changed {
            return Ok(());
        }
        let mut tree = group.tree.into_tree();
        tree.stem(self.state.revs_limit);
        self.put(id, group.stored, tree, group.new)
    }
}
