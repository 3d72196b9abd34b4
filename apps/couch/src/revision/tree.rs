//! The revision tree of a document.
//!
//! A tree is the union of the paths merged into it: their nodes and edges. A union does not depend on the order of
//! merges. Stores that merged the same paths therefore have the same tree and choose the same winner. Only stemming
//! removes revisions.

use super::{History, Revision};
use std::cmp::Reverse;

/// A revision in a tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Its name.
    pub revision: Revision,
    /// Whether it is a deletion.
    pub deleted: bool,
    /// The position of the body. 0 if the revision is the winner, or its body is not kept.
    pub body: u64,
}

/// A leaf revision.
pub type Leaf<'a> = &'a Node;

/// The result of merging a path into a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// The revision is a new leaf.
    NewLeaf,
    /// The revision was already known.
    Known,
}

/// The known revisions of a document: nodes in the order of their names, each once, and edges from a revision to its
/// parent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tree {
    pub(super) nodes: Vec<Node>,
    /// Indexes of child and parent, in order. A node has several parents only if servers disagree about the parent of a
    /// name.
    pub(super) edges: Vec<(u32, u32)>,
}

impl Tree {
    /// The revisions, in the order of their names.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns a revision.
    pub fn get(&self, revision: &Revision) -> Option<&Node> {
        self.find(revision).ok().map(|index| &self.nodes[index])
    }

    /// Returns a revision, to change the position of its body.
    pub fn get_mut(&mut self, revision: &Revision) -> Option<&mut Node> {
        let index = self.find(revision).ok()?;
        Some(&mut self.nodes[index])
    }

    /// All revisions, to change the positions of their bodies.
    pub fn bodies_mut(&mut self) -> impl Iterator<Item = &mut u64> {
        self.nodes.iter_mut().map(|node| &mut node.body)
    }

    /// Whether a revision is known and is a leaf.
    pub fn is_leaf(&self, revision: &Revision) -> bool {
        let has_no_child = |index| self.edges.iter().all(|edge| edge.1 as usize != index);
        self.find(revision).is_ok_and(has_no_child)
    }

    /// The parent of a revision; of several the one with the higher hash.
    pub fn parent(&self, revision: &Revision) -> Option<Revision> {
        let parent = self.parents(self.find(revision).ok()?).last()?;
        Some(self.nodes[parent].revision.clone())
    }

    /// The leaves, the winner first. The order is: not deleted, higher generation, higher hash.
    pub fn leaves(&self) -> Vec<Leaf<'_>> {
        let has_child = self.has_child();
        let mut leaves: Vec<_> = (self.nodes.iter().zip(has_child))
            .filter_map(|(node, has_child)| (!has_child).then_some(node))
            .collect();
        leaves.sort_unstable_by_key(|leaf| Reverse((!leaf.deleted, &leaf.revision)));
        leaves
    }

    /// The winning revision. `None` in an empty tree.
    pub fn winner(&self) -> Option<Leaf<'_>> {
        // The common case needs no list: the last node of a history without branches.
        let last = self.nodes.last()?;
        if !last.deleted && self.edges.len() + 1 == self.nodes.len() && self.is_chain() {
            return Some(last);
        }
        self.leaves().first().copied()
    }

    /// The path to a revision. Where a revision has several parents, it follows the one with the higher hash.
    pub fn history(&self, revision: &Revision) -> Option<History> {
        let mut index = self.find(revision).ok()?;
        let mut hashes = vec![revision.hash.clone()];
        while let Some(parent) = self.parents(index).last() {
            hashes.push(self.nodes[parent].revision.hash.clone());
            index = parent;
        }
        History::new(revision.generation, hashes).ok()
    }

    /// The leaves that descend from a revision; the revision itself if it is a leaf.
    pub fn leaves_after(&self, revision: &Revision) -> Vec<Leaf<'_>> {
        let Ok(start) = self.find(revision) else {
            return Vec::new();
        };
        let mut is_after = vec![false; self.nodes.len()];
        is_after[start] = true;
        // The name of a child is greater than its parent's.
        for (child, parent) in &self.edges {
            is_after[*child as usize] |= is_after[*parent as usize];
        }
        let mut leaves = self.leaves();
        leaves.retain(|leaf| self.find(&leaf.revision).is_ok_and(|index| is_after[index]));
        leaves
    }

    /// Returns the revisions that are not in the tree.
    pub fn missing(&self, revisions: &[Revision]) -> Vec<Revision> {
        let is_missing = |revision: &&Revision| self.find(revision).is_err();
        revisions.iter().filter(is_missing).cloned().collect()
    }

    /// The possible ancestors of missing revisions: leaves of a lower generation than one of them.
    pub fn possible_ancestors(&self, missing: &[Revision]) -> Vec<Revision> {
        let newest = missing.iter().map(|revision| revision.generation).max();
        let leaves = self.leaves().into_iter().map(|leaf| &leaf.revision);
        leaves
            .filter(|leaf| newest.is_some_and(|newest| leaf.generation < newest))
            .cloned()
            .collect()
    }

    /// Merges a path. Its newest revision becomes a leaf unless it is known; `deleted` and `body` are that revision's.
    pub fn merge(&mut self, history: &History, deleted: bool, body: u64) -> Merge {
        let mut merge = Merge::Known;
        let mut child: Option<Revision> = None;
        for revision in history.revisions() {
            let is_newest = child.is_none();
            let is_new = self.add(Node {
                revision: revision.clone(),
                deleted: deleted && is_newest,
                body: if is_newest { body } else { 0 },
            });
            if is_newest && is_new {
                merge = Merge::NewLeaf;
            }
            if let Some(child) = &child {
                self.add_edge(child, &revision);
            }
            child = Some(revision);
        }
        merge
    }

    /// Removes all but the nearest `limit` revisions of each leaf (stemming).
    pub fn stem(&mut self, limit: u64) {
        if self.nodes.len() as u64 <= limit {
            return;
        }
        let mut distances = vec![u64::MAX; self.nodes.len()];
        let has_child = self.has_child();
        for index in (0..self.nodes.len()).rev() {
            if !has_child[index] {
                distances[index] = 1;
            }
            let next = distances[index].saturating_add(1);
            for parent in self.parents(index) {
                distances[parent] = distances[parent].min(next);
            }
        }
        self.retain(|index| distances[index] <= limit);
    }

    /// Purges leaf revisions and their exclusive ancestors. Returns the leaves that existed, in the order given.
    pub fn remove_leaves(&mut self, revisions: &[Revision]) -> Vec<Revision> {
        let has_child = self.has_child();
        let mut is_kept: Vec<bool> = has_child.iter().map(|has_child| !has_child).collect();
        let mut removed = Vec::new();
        for revision in revisions {
            if let Ok(index) = self.find(revision)
                && is_kept[index]
            {
                is_kept[index] = false;
                removed.push(revision.clone());
            }
        }
        for (child, parent) in self.edges.iter().rev() {
            is_kept[*parent as usize] |= is_kept[*child as usize];
        }
        self.retain(|index| is_kept[index]);
        removed
    }

    pub(super) fn find(&self, revision: &Revision) -> Result<usize, usize> {
        // The newest node is the most frequent match.
        if let Some(last) = self.nodes.last()
            && last.revision == *revision
        {
            return Ok(self.nodes.len() - 1);
        }
        self.nodes
            .binary_search_by(|node| node.revision.cmp(revision))
    }

    /// Adds a node without edges. Returns whether it is new.
    fn add(&mut self, node: Node) -> bool {
        let Err(index) = self.find(&node.revision) else {
            return false;
        };
        if index < self.nodes.len() {
            let shifted = |end: &mut u32| *end += u32::from(*end as usize >= index);
            for (child, parent) in &mut self.edges {
                shifted(child);
                shifted(parent);
            }
        }
        self.nodes.insert(index, node);
        true
    }

    /// Adds an edge unless it is known.
    fn add_edge(&mut self, child: &Revision, parent: &Revision) {
        if let (Ok(child), Ok(parent)) = (self.find(child), self.find(parent)) {
            let edge = (child as u32, parent as u32);
            if let Err(index) = self.edges.binary_search(&edge) {
                self.edges.insert(index, edge);
            }
        }
    }

    /// The parents of a node, in the order of their names.
    pub(super) fn parents(&self, index: usize) -> impl DoubleEndedIterator<Item = usize> + use<'_> {
        let child = index as u32;
        let start = self.edges.partition_point(|edge| edge.0 < child);
        self.edges[start..]
            .iter()
            .take_while(move |edge| edge.0 == child)
            .map(|edge| edge.1 as usize)
            .collect::<Vec<_>>()
            .into_iter()
    }

    fn has_child(&self) -> Vec<bool> {
        let mut has_child = vec![false; self.nodes.len()];
        for (_, parent) in &self.edges {
            has_child[*parent as usize] = true;
        }
        has_child
    }

    /// Whether each node is the child of the previous one.
    fn is_chain(&self) -> bool {
        let expected = 1..;
        self.edges
            .iter()
            .zip(expected)
            .all(|(edge, child)| *edge == (child, child - 1))
    }

    fn retain(&mut self, is_kept: impl Fn(usize) -> bool) {
        let mut moved = vec![None; self.nodes.len()];
        let mut next = 0;
        for (index, moved) in moved.iter_mut().enumerate() {
            if is_kept(index) {
                *moved = Some(next);
                next += 1;
            }
        }
        let mut kept = moved.iter().map(Option::is_some);
        self.nodes.retain(|_| kept.next().unwrap_or(false));
        let edges = self.edges.iter().filter_map(|(child, parent)| {
            Some((moved[*child as usize]?, moved[*parent as usize]?))
        });
        self.edges = edges.collect();
    }
}

/// Creates the tree of a new document with one revision.
impl From<Node> for Tree {
    fn from(node: Node) -> Self {
        Tree {
            nodes: vec![node],
            edges: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
