//! A view's B-tree: rows of one SQLite table are its nodes, and inner nodes count and reduce what is below them.
//!
//! The number of rows before a key, and the reduction of a range, are therefore read from two paths of the tree.

mod edit;
mod fold;
mod read;
mod split;
#[cfg(test)]
mod tests;

pub use edit::{Change, edit};
pub use fold::{Fold, OwnRow, Parts};
pub use read::{Cut, rank, visit};

use super::Result;
use super::node::Corrupt;
use rusqlite::{Connection, OptionalExtension};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The root of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Root {
    /// Its node; 0 for an empty tree.
    pub node: i64,
    /// Levels of inner nodes.
    pub height: u32,
    /// All rows.
    pub count: u64,
    /// One reduction per reduce function; none for an empty tree.
    pub reductions: Vec<Vec<u8>>,
}

/// The maximum number of nodes that [`Nodes`] keeps.
const NODES_MAX: usize = 64;

/// Reads nodes within one snapshot. A query follows several paths from the root, so the nodes are kept.
#[derive(Debug)]
pub struct Nodes<'c> {
    connection: &'c Connection,
    kept: RefCell<HashMap<i64, Rc<Vec<u8>>>>,
}

impl<'c> Nodes<'c> {
    /// Keeps no node yet.
    pub fn new(connection: &'c Connection) -> Self {
        Nodes {
            connection,
            kept: RefCell::default(),
        }
    }

    fn node(&self, id: i64) -> Result<Rc<Vec<u8>>> {
        let mut kept = self.kept.borrow_mut();
        if let Some(node) = kept.get(&id) {
            return Ok(Rc::clone(node));
        }
        let node = Rc::new(node(self.connection, id)?);
        if kept.len() >= NODES_MAX {
            kept.clear();
        }
        kept.insert(id, Rc::clone(&node));
        Ok(node)
    }
}

/// Reads a node.
fn node(connection: &Connection, id: i64) -> Result<Vec<u8>> {
    let mut statement = connection.prepare_cached("SELECT node FROM nodes WHERE id = ?1")?;
    let found = statement.query_row([id], |row| row.get(0)).optional()?;
    Ok(found.ok_or(Corrupt)?)
}
