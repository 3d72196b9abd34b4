//! Reading a tree in order, by the numbers of its rows.

use super::{Root, node};
use crate::views::Result;
use crate::views::node::{Entry, Position, branches, entries};
use rusqlite::Connection;

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
pub fn rank(connection: &Connection, root: &Root, cut: &Cut) -> Result<u64> {
    let (mut id, mut before) = (root.node, 0);
    if id == 0 {
        return Ok(0);
    }
    for _ in 0..root.height {
        let stored = node(connection, id)?;
        let mut next = None;
        for branch in branches(&stored)? {
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
    let leaf = node(connection, id)?;
    let entries = entries(&leaf)?;
    let is_before = |entry: &&Entry<'_>| cut.is_beyond(entry.position);
    let rows = entries
        .iter()
        .take_while(is_before)
        .map(|entry| entry.count);
    Ok(before + rows.sum::<u64>())
}

/// Takes an entry and the number of its rows to skip. Returns whether it takes more.
type Visitor<'a> = dyn FnMut(&Entry<'_>, u64) -> Result<bool> + 'a;

/// Visits the entries in order or in reverse, after skipping so many rows.
pub fn visit(
    connection: &Connection,
    root: &Root,
    descending: bool,
    skip: u64,
    visitor: &mut Visitor<'_>,
) -> Result<()> {
    if root.node == 0 {
        return Ok(());
    }
    let mut walk = Walk {
        connection,
        descending,
        skip,
        visitor,
    };
    walk.node(root.node, root.height).map(drop)
}

struct Walk<'a, 'v> {
    connection: &'a Connection,
    descending: bool,
    skip: u64,
    visitor: &'a mut Visitor<'v>,
}

impl Walk<'_, '_> {
    fn node(&mut self, id: i64, height: u32) -> Result<bool> {
        let stored = node(self.connection, id)?;
        if height == 0 {
            return self.leaf(&entries(&stored)?);
        }
        let mut branches = branches(&stored)?;
        if self.descending {
            branches.reverse();
        }
        for branch in branches {
            if self.skip >= branch.count {
                self.skip -= branch.count;
            } else if !self.node(branch.node, height - 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn leaf(&mut self, entries: &[Entry<'_>]) -> Result<bool> {
        let mut at = 0..entries.len();
        while let Some(at) = match self.descending {
            true => at.next_back(),
            false => at.next(),
        } {
            let entry = &entries[at];
            if self.skip >= entry.count {
                self.skip -= entry.count;
                continue;
            }
            if !(self.visitor)(entry, std::mem::take(&mut self.skip))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
