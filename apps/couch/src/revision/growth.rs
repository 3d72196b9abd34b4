//! A revision tree to which many paths are added.

use super::{History, Merge, Node, Revision, Tree};
use std::collections::BTreeMap;

/// A tree in which adding a path takes time in the length of the path and not in the size of the tree. It is made of a
/// [`Tree`] and becomes one again.
#[derive(Clone, Debug, Default)]
pub struct Growth {
    nodes: BTreeMap<Revision, Growing>,
}

#[derive(Clone, Debug)]
struct Growing {
    deleted: bool,
    body: u64,
    /// In the order of their names.
    parents: Vec<Revision>,
}

impl From<&Tree> for Growth {
    fn from(tree: &Tree) -> Self {
        let node = |(index, node): (usize, &Node)| {
            let parents = tree.parents(index);
            let parents = parents.map(|parent| tree.nodes()[parent].revision.clone());
            let growing = Growing {
                deleted: node.deleted,
                body: node.body,
                parents: parents.collect(),
            };
            (node.revision.clone(), growing)
        };
        Growth {
            nodes: tree.nodes().iter().enumerate().map(node).collect(),
        }
    }
}

impl Growth {
    /// Whether a revision is known.
    pub fn contains(&self, revision: &Revision) -> bool {
        self.nodes.contains_key(revision)
    }

    /// The parent of a revision; of several the one with the higher hash.
    pub fn parent(&self, revision: &Revision) -> Option<Revision> {
        self.nodes.get(revision)?.parents.last().cloned()
    }

    /// Merges a path, as [`Tree::merge`] does. Returns also whether the tree was changed.
    pub fn merge(&mut self, history: &History, deleted: bool) -> (Merge, bool) {
        let (mut merge, mut is_changed) = (Merge::Known, false);
        let mut child: Option<Revision> = None;
        for revision in history.revisions() {
            let is_newest = child.is_none();
            if !self.nodes.contains_key(&revision) {
                is_changed = true;
                if is_newest {
                    merge = Merge::NewLeaf;
                }
                let growing = Growing {
                    deleted: deleted && is_newest,
                    body: 0,
                    parents: Vec::new(),
                };
                self.nodes.insert(revision.clone(), growing);
            }
            let child = child.replace(revision.clone());
            if let Some(child) = child.and_then(|child| self.nodes.get_mut(&child))
                && let Err(at) = child.parents.binary_search(&revision)
            {
                child.parents.insert(at, revision);
                is_changed = true;
            }
        }
        (merge, is_changed)
    }

    /// Returns the tree.
    pub fn into_tree(self) -> Tree {
        let mut tree = Tree::default();
        let mut parents = Vec::with_capacity(self.nodes.len());
        for (revision, growing) in self.nodes {
            tree.nodes.push(Node {
                revision,
                deleted: growing.deleted,
                body: growing.body,
            });
            parents.push(growing.parents);
        }
        for (child, parents) in (0_u32..).zip(parents) {
            let places = parents.iter().filter_map(|parent| tree.find(parent).ok());
            let edges: Vec<_> = places.map(|parent| (child, parent as u32)).collect();
            tree.edges.extend(edges);
        }
        tree
    }
}
