//! Negations, pushed down to the conditions.
//!
//! Of a field that is not there, neither a comparison nor its opposite is true: `{"$not": {"a": {"$gt": 1}}}` is
//! `{"a": {"$lte": 1}}`, and needs `a`, as in CouchDB.

use super::node::{Condition, Node};

/// The same without negations above fields.
pub fn push_down(node: Node) -> Node {
    match node {
        Node::And(parts) => Node::And(parts.into_iter().map(push_down).collect()),
        Node::Or(parts) => Node::Or(parts.into_iter().map(push_down).collect()),
        Node::Not(part) => negate(*part),
        other => other,
    }
}

fn negate(node: Node) -> Node {
    match node {
        Node::Any => Node::Not(Box::new(Node::Any)),
        Node::And(parts) => Node::Or(parts.into_iter().map(negate).collect()),
        Node::Or(parts) => Node::And(parts.into_iter().map(negate).collect()),
        Node::Not(part) => push_down(*part),
        Node::Field(path, condition) => Node::Field(path, opposite(condition)),
    }
}

fn opposite(condition: Condition) -> Condition {
    match condition {
        Condition::Compare(comparison, argument) => {
            Condition::Compare(comparison.opposite(), argument)
        }
        Condition::In(items) => Condition::Nin(items),
        Condition::Nin(items) => Condition::In(items),
        Condition::Exists(exists) => Condition::Exists(!exists),
        Condition::Not(condition) => *condition,
        other => Condition::Not(Box::new(other)),
    }
}
