//! Reducing ranges of a tree, group by group: whole subtrees of one group are not read.

use super::{Cut, Nodes, Root};
use crate::views::Result;
use crate::views::key::Collation;
use crate::views::node::{Child, Entry, Position, children, entries};

/// A row that was read for a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnRow {
    pub key: String,
    pub id: String,
    pub value: String,
}

/// What is known of a group: rows, and reductions of subtrees, in the order they were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The rows of each entry.
    pub rows: Vec<Vec<OwnRow>>,
    pub reductions: Vec<Vec<u8>>,
}

/// A group of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The first key that was read, JSON.
    pub key: String,
    pub parts: Parts,
}

/// What is folded.
#[derive(Clone, Copy, Debug)]
pub struct Fold<'a> {
    pub nodes: &'a Nodes<'a>,
    pub root: &'a Root,
    pub collation: Collation,
    /// The length of what stands before each key: its partition.
    pub prefix_bytes: usize,
    /// Items of array keys that make a group: 0 for one group, none for equal keys.
    pub level: Option<usize>,
    pub descending: bool,
    /// The function whose reductions are used.
    pub reducer: usize,
}

/// Takes a group. Returns whether it takes more.
pub type Taker<'a> = dyn FnMut(Group) -> Result<bool> + 'a;

impl Fold<'_> {
    /// Gives the groups of the rows with such numbers, in order or in reverse. Returns where it was stopped: the cut from
    /// which the groups that were not given can be read.
    ///
    /// # Errors
    /// If the tree cannot be read.
    pub fn run(&self, from: u64, to: u64, taker: &mut Taker<'_>) -> Result<Option<Cut>> {
        let mut walk = Walk {
            fold: self,
            from,
            to,
            open: None,
            stopped: None,
            taker,
        };
        if self.root.node != 0 && from < to {
            let whole = Whole {
                node: self.root.node,
                height: self.root.height,
                before: 0,
            };
            walk.node(whole, None)?;
        }
        if walk.stopped.is_none()
            && let Some(open) = walk.open.take()
        {
            (walk.taker)(open.group)?;
        }
        Ok(walk.stopped)
    }

    fn group<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        match self.level {
            Some(0) => &[],
            Some(level) => match key.split_at_checked(self.prefix_bytes) {
                Some((prefix, own)) => {
                    &key[..prefix.len() + self.collation.group(own, level).len()]
                }
                None => key,
            },
            None => key,
        }
    }
}

/// A subtree, and the number of rows before it.
#[derive(Clone, Copy)]
struct Whole {
    node: i64,
    height: u32,
    before: u64,
}

/// The group that is being read.
#[derive(Default)]
struct Open {
    own: Vec<u8>,
    group: Group,
}

struct Walk<'a, 'f, 't> {
    fold: &'a Fold<'f>,
    from: u64,
    to: u64,
    open: Option<Open>,
    stopped: Option<Cut>,
    taker: &'a mut Taker<'t>,
}

impl Walk<'_, '_, '_> {
    /// Reads a subtree. `bound` is a key that none of its keys is below.
    fn node(&mut self, whole: Whole, bound: Option<&[u8]>) -> Result<()> {
        let stored = self.fold.nodes.node(whole.node)?;
        if whole.height == 0 {
            return self.leaf(&entries(&stored)?, whole.before);
        }
        let children = children(&stored)?;
        let mut before = whole.before;
        let mut places = Vec::with_capacity(children.len());
        for (at, child) in children.iter().enumerate() {
            let bound = match at {
                0 => bound,
                _ => Some(children[at - 1].key.as_slice()),
            };
            places.push((child, before, bound));
            before += child.count;
        }
        if self.fold.descending {
            places.reverse();
        }
        for (child, before, bound) in places {
            let end = before + child.count;
            if end <= self.from || before >= self.to || self.stopped.is_some() {
                continue;
            }
            let is_inside = before >= self.from && end <= self.to;
            if is_inside && self.is_in_open_group(child, bound) {
                self.add_reduction(child);
                continue;
            }
            let below = Whole {
                node: child.node,
                height: whole.height - 1,
                before,
            };
            self.node(below, bound)?;
        }
        Ok(())
    }

    /// Whether all rows of a subtree belong to the group that is being read: the keys are sorted, so its farther end decides.
    fn is_in_open_group(&self, child: &Child, bound: Option<&[u8]>) -> bool {
        if self.fold.level == Some(0) {
            return true;
        }
        let end = match self.fold.descending {
            true => bound,
            false => Some(child.key.as_slice()),
        };
        match (&self.open, end) {
            (Some(open), Some(end)) => self.fold.group(end) == open.own,
            _ => false,
        }
    }

    fn add_reduction(&mut self, child: &Child) {
        let reductions = child.reductions.as_deref().unwrap_or_default();
        if let Some(own) = reductions.get(self.fold.reducer) {
            let open = self.open.get_or_insert_default();
            open.group.parts.reductions.push(own.clone());
        }
    }

    fn leaf(&mut self, leaf: &[Entry<'_>], before: u64) -> Result<()> {
        let mut at = before;
        let mut inside = Vec::with_capacity(leaf.len());
        for entry in leaf {
            if at >= self.from && at < self.to {
                inside.push(entry);
            }
            at += entry.count;
        }
        if self.fold.descending {
            inside.reverse();
        }
        for entry in inside {
            if self.stopped.is_some() {
                return Ok(());
            }
            self.entry(entry)?;
        }
        Ok(())
    }

    fn entry(&mut self, entry: &Entry<'_>) -> Result<()> {
        let own = self.fold.group(entry.position.key);
        if self.open.as_ref().is_some_and(|open| open.own != own)
            && let Some(open) = self.open.take()
            && !(self.taker)(open.group)?
        {
            self.stopped = Some(self.cut_before(entry.position));
            return Ok(());
        }
        let rows: Vec<_> = entry.rows().collect::<std::result::Result<_, _>>()?;
        let open = self.open.get_or_insert_with(|| Open {
            own: own.to_vec(),
            group: Group {
                key: rows
                    .first()
                    .map(|row| row.key.to_owned())
                    .unwrap_or_default(),
                parts: Parts::default(),
            },
        });
        let id = entry.id()?;
        let own = rows.iter().map(|row| OwnRow {
            key: row.key.to_owned(),
            id: id.to_owned(),
            value: row.value.to_owned(),
        });
        open.group.parts.rows.push(own.collect());
        Ok(())
    }

    /// The cut from which an entry is the first to be read.
    fn cut_before(&self, position: Position<'_>) -> Cut {
        Cut {
            key: position.key.to_vec(),
            id: position.id.to_vec(),
            is_after: self.fold.descending,
        }
    }
}
