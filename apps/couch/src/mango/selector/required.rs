//! Which fields every match has: an index holds only documents with all its fields.

use super::node::{Condition, Node};
use std::collections::BTreeSet;

/// Whether all documents that match have these fields.
pub fn requires(node: &Node, fields: &[&str]) -> bool {
    let required = required(node);
    fields.iter().all(|field| required.contains(field))
}

fn required(node: &Node) -> BTreeSet<&str> {
    match node {
        Node::Any | Node::Not(_) => BTreeSet::new(),
        Node::And(parts) => parts.iter().flat_map(required).collect(),
        Node::Or(parts) => {
            let mut parts = parts.iter().map(required);
            let first = parts.next().unwrap_or_default();
            parts.fold(first, |common, part| &common & &part)
        }
        Node::Field(_, Condition::Exists(false)) => BTreeSet::new(),
        Node::Field(path, _) => BTreeSet::from([path.as_str()]),
    }
}
