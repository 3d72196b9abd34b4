//! Reading a tree in order, by the numbers of its rows.

use super::{Nodes, Root};
use crate::views::Result;
use crate::views::node::{Branch, Corrupt, Entry, Position, branches, each_entry};

/// A place between two entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The position that it is at.
    pub key: Vec<u8>,
    pub id: Vec<u8>,
    /// Whether it is after an entry at this position, or before it.
    pub is_after: bool,
}

impl Cut {
    /// Returns whether an entry is before the cut.
    pub fn is_beyond(&self, position: Position<'_>) -> bool {
        let own = Position {
            key: &self.key,
            id: &self.id,
        };
        match position.cmp(&own) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Equal => self.is_after,
            std::cmp::Ordering::Greater => false,
        }
    }
}

/// Counts the rows before a cut.
pub fn rank(nodes: &Nodes<'_>, root: &Root, cut: &Cut) -> Result<u64> {
    let (mut id, mut before) = (root.node, 0);
    if id == 0 {
        return Ok(0);
    }
    for _ in 0..root.height {
        let stored = nodes.node(id)?;
        let mut next = None;
        for branch in branches(&stored) {
            let branch = branch?;
            if !cut.is_beyond(branch.last) {
                next = Some(branch.node);
                break;
            }
            before += branch.count;
        }
        match next {
            Some(next) => id = next,
            None => return Ok(before),
        }
    }
    for entry in each_entry(&nodes.node(id)?) {
        let entry = entry?;
        if !cut.is_beyond(entry.position) {
            break;
        }
        before += entry.count;
    }
    Ok(before)
}

/// Takes an entry and the number of its rows to skip. Returns whether it takes more.
type Visitor<'a> = dyn FnMut(&Entry<'_>, u64) -> Result<bool> + 'a;

/// Visits the entries in order or in reverse, after skipping so many rows.
pub fn visit(
    nodes: &Nodes<'_>,
    root: &Root,
    descending: bool,
    skip: u64,
    visitor: &mut Visitor<'_>,
) -> Result<()> {
    if root.node == 0 {
        return Ok(());
    }
    let mut walk = Walk {
        nodes,
        descending,
        skip,
        visitor,
    };
    walk.node(root.node, root.height).map(drop)
}

struct Walk<'a, 'v> {
    nodes: &'a Nodes<'a>,
    descending: bool,
    skip: u64,
    visitor: &'a mut Visitor<'v>,
}

impl Walk<'_, '_> {
    /// Visits the entries below a node. Returns whether the visitor takes more.
    fn node(&mut self, id: i64, height: u32) -> Result<bool> {
        let stored = self.nodes.node(id)?;
        match (height, self.descending) {
            (0, false) => all(each_entry(&stored), |entry| self.entry(&entry)),
            (0, true) => all(reversed(each_entry(&stored))?, |entry| self.entry(&entry)),
            (_, false) => all(branches(&stored), |branch| self.branch(branch, height)),
            (_, true) => all(reversed(branches(&stored))?, |branch| {
                self.branch(branch, height)
            }),
        }
    }

    fn branch(&mut self, branch: Branch<'_>, height: u32) -> Result<bool> {
        if self.skip >= branch.count {
            self.skip -= branch.count;
            return Ok(true);
        }
        self.node(branch.node, height - 1)
    }

    fn entry(&mut self, entry: &Entry<'_>) -> Result<bool> {
        if self.skip >= entry.count {
            self.skip -= entry.count;
            return Ok(true);
        }
        (self.visitor)(entry, std::mem::take(&mut self.skip))
    }
}

/// Calls `visit` with each item until it returns false. Returns whether it never did.
fn all<T>(
    items: impl Iterator<Item = std::result::Result<T, Corrupt>>,
    mut visit: impl FnMut(T) -> Result<bool>,
) -> Result<bool> {
    for item in items {
        if !visit(item?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reads all items, and returns them from the last to the first.
fn reversed<T>(
    items: impl Iterator<Item = std::result::Result<T, Corrupt>>,
) -> Result<impl Iterator<Item = std::result::Result<T, Corrupt>>> {
    let items: Vec<T> = items.collect::<std::result::Result<_, _>>()?;
    Ok(items.into_iter().rev().map(Ok))
}
