//! The fields of a selector: which every match has, and which an index can narrow.
//!
//! Sources: `mango_selector:has_required_fields`, `is_constant_field` and `fields`, `mango_idx_view:indexable_fields`.

use super::Selector;
use super::node::{Comparison, Condition, Node};
use std::collections::BTreeSet;

impl Selector {
    /// Whether all documents that match have these fields: an index holds only documents with all its fields.
    pub(in crate::mango) fn requires(&self, fields: &[&str]) -> bool {
        without_required(&self.node, fields.to_vec()).is_empty()
    }

    /// Whether the selector holds a field to one value.
    pub(in crate::mango) fn is_constant(&self, field: &str) -> bool {
        is_constant(&self.node, field)
    }

    /// Whether it asks for text, which no index over fields answers.
    pub(in crate::mango) fn is_text_search(&self) -> bool {
        is_text_search(&self.node)
    }

    /// The fields that an index can narrow, in order.
    pub(in crate::mango) fn indexable_fields(&self) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        add_indexable(&self.node, &mut found);
        found
    }

    /// All fields, in order.
    pub(in crate::mango) fn fields(&self) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        add_fields(&self.node, &mut found);
        found
    }
}

/// Takes from the fields those that every match has.
fn without_required<'a>(node: &Node, mut fields: Vec<&'a str>) -> Vec<&'a str> {
    match node {
        Node::Any | Node::Text | Node::Not(_) => fields,
        Node::And(parts) => parts
            .iter()
            .fold(fields, |left, part| without_required(part, left)),
        // Each alternative has to have all.
        Node::Or(parts) => {
            let left = parts
                .iter()
                .flat_map(|part| without_required(part, fields.clone()));
            let left: BTreeSet<&str> = left.collect();
            left.into_iter().collect()
        }
        Node::Field(_, Condition::Exists(false)) => fields,
        Node::Field(path, _) => {
            fields.retain(|field| *field != path.as_str());
            fields
        }
    }
}

fn is_constant(node: &Node, field: &str) -> bool {
    match node {
        Node::And(parts) => parts.iter().any(|part| is_constant(part, field)),
        Node::Field(path, Condition::Compare(Comparison::Eq, _)) => path.as_str() == field,
        _ => false,
    }
}

fn is_text_search(node: &Node) -> bool {
    match node {
        Node::Text => true,
        Node::And(parts) | Node::Or(parts) => parts.iter().any(is_text_search),
        _ => false,
    }
}

fn add_indexable<'a>(node: &'a Node, found: &mut BTreeSet<&'a str>) {
    match node {
        Node::And(parts) => parts.iter().for_each(|part| add_indexable(part, found)),
        Node::Field(path, condition) if condition.is_indexable() => {
            found.insert(path.as_str());
        }
        _ => {}
    }
}

fn add_fields<'a>(node: &'a Node, found: &mut BTreeSet<&'a str>) {
    match node {
        Node::And(parts) | Node::Or(parts) => {
            parts.iter().for_each(|part| add_fields(part, found));
        }
        Node::Field(path, _) => {
            found.insert(path.as_str());
        }
        Node::Text => {
            found.insert(super::normal::TEXT);
        }
        Node::Any | Node::Not(_) => {}
    }
}
