//! Conditions on documents.

mod condition;
mod negate;
mod parse;
mod required;
mod show;

pub(super) use condition::{Comparison, Condition};

use super::Error;
use super::path::{Found, Path};
use crate::store::Document;
use serde_json::Value;

/// A condition on documents, in CouchDB's normal form.
#[derive(Clone, Debug)]
pub struct Selector(pub(super) Node);

/// A part of a selector. In normal form, a field's condition says what to do without the field: nothing matches, but for
/// `$exists: false`; and a negation stands only where a condition has no opposite of its own.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// All documents.
    Any,
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Box<Node>),
    Field(Path, Condition),
}

impl Selector {
    /// Reads a selector as clients write it.
    ///
    /// # Errors
    /// When an operator is unknown or has a wrong argument, a condition is on no field, or the selector is too deep or too large.
    pub fn from_json(selector: &Value) -> Result<Selector, Error> {
        parse::selector(selector).map(Selector)
    }

    /// Whether a document is meant: its body, and `_id`, `_rev`, `_deleted` and `_attachments` as they are shown.
    pub fn matches(&self, document: &Document) -> bool {
        let text = match self.0.is_on_special_fields() {
            true => &document.to_json(),
            false => &document.body,
        };
        // A body is JSON; one nested too deep for serde_json matches nothing.
        serde_json::from_str(text).is_ok_and(|value| self.matches_value(&value))
    }

    /// Whether a value is meant.
    pub(super) fn matches_value(&self, value: &Value) -> bool {
        self.0.matches(value)
    }

    /// The selector in normal form, as `_explain` shows it.
    pub(super) fn to_json(&self) -> Value {
        show::node(&self.0)
    }

    /// Whether all documents that match have these fields.
    pub(super) fn requires(&self, fields: &[&str]) -> bool {
        required::requires(&self.0, fields)
    }

    /// Whether the selector holds a field to one value.
    pub(super) fn is_constant(&self, field: &str) -> bool {
        self.comparisons(field)
            .iter()
            .any(|(comparison, _)| *comparison == Comparison::Eq)
    }

    /// The comparisons that every match of this field has to pass.
    pub(super) fn comparisons(&self, field: &str) -> Vec<(Comparison, &Value)> {
        let mut found = Vec::new();
        self.0.add_comparisons(field, &mut found);
        found
    }
}

impl Node {
    pub(super) fn matches(&self, value: &Value) -> bool {
        match self {
            Node::Any => true,
            // An empty list is no condition, with both.
            Node::And(parts) => parts.iter().all(|part| part.matches(value)),
            Node::Or(parts) => parts.is_empty() || parts.iter().any(|part| part.matches(value)),
            Node::Not(part) => !part.matches(value),
            Node::Field(path, condition) => match path.find(value) {
                Found::Value(found) => condition.matches(found, path.is_id()),
                Found::Missing => matches!(condition, Condition::Exists(false)),
                Found::NoWay => false,
            },
        }
    }

    fn is_on_special_fields(&self) -> bool {
        match self {
            Node::Any => false,
            Node::And(parts) | Node::Or(parts) => parts.iter().any(Node::is_on_special_fields),
            Node::Not(part) => part.is_on_special_fields(),
            Node::Field(path, _) => path.is_special(),
        }
    }

    fn add_comparisons<'a>(&'a self, field: &str, found: &mut Vec<(Comparison, &'a Value)>) {
        match self {
            Node::And(parts) => {
                for part in parts {
                    part.add_comparisons(field, found);
                }
            }
            Node::Field(path, Condition::Compare(comparison, argument))
                if path.as_str() == field && *comparison != Comparison::Ne =>
            {
                found.push((*comparison, argument));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
