//! Changes of a tree: a batch of sorted changes touches each node once.

use super::split::{CHILDREN_MIN, NODE_BYTES_MAX, NODE_BYTES_MIN, split};
use super::{Root, node};
use crate::views::Result;
use crate::views::node::{Child, Corrupt, Entry, Position, children, entries, write_children};
use crate::views::reduce::{Reduce, Request};
use rusqlite::Connection;
use std::collections::{BTreeMap, HashMap};

/// What becomes of the entry at a position.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    pub position: Position<'a>,
    /// The entry; none to remove it.
    pub entry: Option<Entry<'a>>,
}

/// Applies changes, which must be in order of their positions and of different positions. Returns the new root.
pub fn edit(
    connection: &Connection,
    root: &Root,
    changes: &[Change<'_>],
    reduce: &dyn Reduce,
) -> Result<Root> {
    if changes.is_empty() {
        return Ok(root.clone());
    }
    let mut editor = Editor {
        connection,
        next_node: next_node(connection)?,
        reduction_bytes: reduce.bytes(),
        levels: Vec::new(),
        removed: Vec::new(),
    };
    let node = (root.node != 0).then_some(root.node);
    let mut top = editor.node(node, root.height, changes)?;
    let mut height = root.height;
    while top.len() > 1 {
        height += 1;
        top = editor.pack_inner(top, None, height);
    }
    let Some(mut top) = top.pop() else {
        editor.write()?;
        return Ok(Root::default());
    };
    while height > 0 {
        let mut children = editor.children(top.node, height)?;
        if children.len() > 1 {
            break;
        }
        let Some(only) = children.pop() else {
            return Err(Corrupt.into());
        };
        editor.remove(top.node, height);
        (top, height) = (only, height - 1);
    }
    let reductions = editor.reduce(reduce)?;
    editor.write()?;
    let own = match top.reductions {
        Some(own) => own,
        None => reductions.get(&top.node).cloned().ok_or(Corrupt)?,
    };
    Ok(Root {
        node: top.node,
        height,
        count: top.count,
        reductions: own,
    })
}

fn next_node(connection: &Connection) -> Result<i64> {
    let sql = "SELECT coalesce(max(id), 0) + 1 FROM nodes";
    Ok(connection
        .prepare_cached(sql)?
        .query_row([], |row| row.get(0))?)
}

/// A node that is to be written.
enum Dirty {
    Leaf(Vec<u8>),
    Inner(Vec<Child>),
}

/// The reductions of dirty nodes, by node.
type Reductions = BTreeMap<i64, Vec<Vec<u8>>>;

struct Editor<'a> {
    connection: &'a Connection,
    next_node: i64,
    /// Bytes that the reductions of a node take, about.
    reduction_bytes: usize,
    /// The nodes to be written, level by level, leaves first.
    levels: Vec<HashMap<i64, Dirty>>,
    removed: Vec<i64>,
}

impl Editor<'_> {
    /// Applies changes below a node. Returns the nodes that take its place.
    fn node(&mut self, id: Option<i64>, height: u32, changes: &[Change<'_>]) -> Result<Vec<Child>> {
        if height == 0 {
            return self.leaf(id, changes);
        }
        let id = id.ok_or(Corrupt)?;
        let old = self.children(id, height)?;
        let last = old.len().saturating_sub(1);
        let (mut new, mut rest) = (Vec::with_capacity(old.len()), changes);
        for (at, child) in old.into_iter().enumerate() {
            let own = match at == last {
                true => rest.len(),
                false => rest.partition_point(|change| change.position <= child.last()),
            };
            let (own, others) = rest.split_at(own);
            rest = others;
            match own.is_empty() {
                true => new.push(child),
                false => new.extend(self.node(Some(child.node), height - 1, own)?),
            }
        }
        self.join_small(&mut new, height - 1)?;
        Ok(self.pack_inner(new, Some(id), height))
    }

    fn leaf(&mut self, id: Option<i64>, changes: &[Change<'_>]) -> Result<Vec<Child>> {
        let stored = match id {
            Some(id) => node(self.connection, id)?,
            None => Vec::new(),
        };
        let old = entries(&stored)?;
        let mut merged: Vec<Entry<'_>> = Vec::with_capacity(old.len() + changes.len());
        let mut old = old.into_iter().peekable();
        for change in changes {
            while let Some(entry) = old.next_if(|entry| entry.position < change.position) {
                merged.push(entry);
            }
            let _replaced = old.next_if(|entry| entry.position == change.position);
            merged.extend(change.entry);
        }
        merged.extend(old);
        let mut own = id;
        let mut leaves = Vec::new();
        for range in split(merged.iter().map(|entry| entry.stored.len()), 1) {
            let entries = &merged[range];
            let Some(last) = entries.last() else {
                continue;
            };
            let mut bytes =
                Vec::with_capacity(entries.iter().map(|entry| entry.stored.len()).sum());
            for entry in entries {
                bytes.extend_from_slice(entry.stored);
            }
            let child = Child {
                key: last.position.key.to_vec(),
                id: last.position.id.to_vec(),
                node: own.take().unwrap_or_else(|| self.new_node()),
                count: entries.iter().map(|entry| entry.count).sum(),
                bytes: bytes.len() as u64,
                reductions: None,
            };
            self.level(0).insert(child.node, Dirty::Leaf(bytes));
            leaves.push(child);
        }
        if let Some(unused) = own {
            self.remove(unused, 0);
        }
        Ok(leaves)
    }

    fn pack_inner(&mut self, below: Vec<Child>, id: Option<i64>, height: u32) -> Vec<Child> {
        let mut own = id;
        let mut nodes = Vec::new();
        let size = |child: &Child, reduction_bytes: usize| match child.reductions {
            Some(_) => child.size(),
            None => child.size() + reduction_bytes,
        };
        let reduction_bytes = self.reduction_bytes;
        let ranges = split(
            below.iter().map(|child| size(child, reduction_bytes)),
            CHILDREN_MIN,
        );
        let mut below = below.into_iter();
        for range in ranges {
            let children: Vec<Child> = below.by_ref().take(range.len()).collect();
            let Some(last) = children.last() else {
                continue;
            };
            let node = Child {
                key: last.key.clone(),
                id: last.id.clone(),
                node: own.take().unwrap_or_else(|| self.new_node()),
                count: children.iter().map(|child| child.count).sum(),
                bytes: children
                    .iter()
                    .map(|child| size(child, reduction_bytes) as u64)
                    .sum(),
                reductions: None,
            };
            self.level(height).insert(node.node, Dirty::Inner(children));
            nodes.push(node);
        }
        if let Some(unused) = own {
            self.remove(unused, height);
        }
        nodes
    }

    /// Joins nodes that have become small with their neighbours.
    fn join_small(&mut self, nodes: &mut Vec<Child>, height: u32) -> Result<()> {
        let mut at = 0;
        while at + 1 < nodes.len() {
            let (one, other) = (&nodes[at], &nodes[at + 1]);
            let is_small = one.bytes.min(other.bytes) < NODE_BYTES_MIN
                && one.bytes + other.bytes <= NODE_BYTES_MAX as u64
                && (one.reductions.is_none() || other.reductions.is_none());
            if !is_small {
                at += 1;
                continue;
            }
            let other = nodes.remove(at + 1);
            let joined = match height {
                0 => {
                    let mut bytes = self.bytes(nodes[at].node)?;
                    bytes.extend(self.bytes(other.node)?);
                    Dirty::Leaf(bytes)
                }
                _ => {
                    let mut children = self.children(nodes[at].node, height)?;
                    children.extend(self.children(other.node, height)?);
                    Dirty::Inner(children)
                }
            };
            self.remove(other.node, height);
            let one = &mut nodes[at];
            one.count += other.count;
            one.bytes += other.bytes;
            (one.key, one.id, one.reductions) = (other.key, other.id, None);
            let id = one.node;
            self.level(height).insert(id, joined);
        }
        Ok(())
    }

    /// The bytes of a leaf, also of a dirty one, which is no longer dirty then.
    fn bytes(&mut self, id: i64) -> Result<Vec<u8>> {
        match self.level(0).remove(&id) {
            Some(Dirty::Leaf(bytes)) => Ok(bytes),
            Some(Dirty::Inner(_)) => Err(Corrupt.into()),
            None => node(self.connection, id),
        }
    }

    /// The children of an inner node, also of a dirty one.
    fn children(&mut self, id: i64, height: u32) -> Result<Vec<Child>> {
        match self.level(height).get(&id) {
            Some(Dirty::Inner(children)) => Ok(children.clone()),
            Some(Dirty::Leaf(_)) => Err(Corrupt.into()),
            None => Ok(children(&node(self.connection, id)?)?),
        }
    }

    fn level(&mut self, height: u32) -> &mut HashMap<i64, Dirty> {
        let height = height as usize;
        while self.levels.len() <= height {
            self.levels.push(HashMap::new());
        }
        &mut self.levels[height]
    }

    fn new_node(&mut self) -> i64 {
        self.next_node += 1;
        self.next_node - 1
    }

    fn remove(&mut self, id: i64, height: u32) {
        self.level(height).remove(&id);
        self.removed.push(id);
    }

    /// Computes the reductions of the dirty nodes, level by level: all of a level at once.
    fn reduce(&mut self, reduce: &dyn Reduce) -> Result<Reductions> {
        let mut reductions = Reductions::new();
        for level in &mut self.levels {
            for dirty in level.values_mut() {
                let Dirty::Inner(children) = dirty else {
                    continue;
                };
                for child in children
                    .iter_mut()
                    .filter(|child| child.reductions.is_none())
                {
                    let own = reductions.get(&child.node).cloned();
                    child.reductions = Some(own.ok_or(Corrupt)?);
                }
            }
            let ids: Vec<i64> = level.keys().copied().collect();
            let mut requests = Vec::with_capacity(level.len());
            for dirty in level.values() {
                requests.push(match dirty {
                    Dirty::Leaf(bytes) => Request::Rows(bytes),
                    Dirty::Inner(children) => Request::Parts(
                        children
                            .iter()
                            .filter_map(|child| child.reductions.as_deref())
                            .collect(),
                    ),
                });
            }
            reductions.extend(ids.into_iter().zip(reduce.reduce(&requests)?));
        }
        Ok(reductions)
    }

    fn write(&self) -> Result<()> {
        let mut delete = self
            .connection
            .prepare_cached("DELETE FROM nodes WHERE id = ?1")?;
        for id in &self.removed {
            delete.execute([id])?;
        }
        let sql = "INSERT OR REPLACE INTO nodes(id, node) VALUES (?1, ?2)";
        let mut insert = self.connection.prepare_cached(sql)?;
        for level in &self.levels {
            let mut nodes: Vec<_> = level.iter().collect();
            nodes.sort_unstable_by_key(|(id, _)| **id);
            for (id, dirty) in nodes {
                match dirty {
                    Dirty::Leaf(bytes) => insert.execute((id, bytes))?,
                    Dirty::Inner(children) => insert.execute((id, write_children(children)))?,
                };
            }
        }
        Ok(())
    }
}
