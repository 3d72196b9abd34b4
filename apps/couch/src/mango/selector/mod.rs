//! Conditions on documents.

mod compile;
mod fields;
mod node;
mod normal;
mod range;
mod regex;

pub(crate) use range::LAST_CHARACTER;
pub(super) use range::Range;

use super::Error;
use node::Node;
use serde_json::Value;

/// A condition on documents.
#[derive(Clone, Debug)]
pub struct Selector {
    /// The normal form.
    normal: Value,
    node: Node,
}

impl Selector {
    /// Reads a selector as clients write it.
    ///
    /// # Errors
    /// If an operator is unknown or has a wrong argument, a condition names no field, or the selector is too deep or
    /// too large.
    pub fn from_json(selector: &Value) -> Result<Selector, Error> {
        let normal = normal::normalize(selector)?;
        let node = compile::selector(&normal)?;
        Ok(Selector { normal, node })
    }

    /// Returns whether it needs more of a document than its body: `_id`, `_rev`, `_deleted` or `_attachments`.
    pub(crate) fn is_on_special_fields(&self) -> bool {
        self.node.is_on_special_fields()
    }

    /// Returns whether the text of a JSON object matches. Text nested too deep for serde_json matches nothing.
    pub(crate) fn matches_text(&self, text: &str) -> bool {
        serde_json::from_str(text).is_ok_and(|value| self.matches_value(&value))
    }

    /// Whether a value is meant.
    pub(super) fn matches_value(&self, value: &Value) -> bool {
        self.node.matches(value)
    }

    /// The selector in normal form, as `_explain` shows it.
    pub(crate) fn to_json(&self) -> Value {
        self.normal.clone()
    }

    /// Whether it is one operator with an empty list: CouchDB finds nothing for it.
    pub(super) fn is_empty_list(&self) -> bool {
        matches!(&self.node, Node::And(parts) | Node::Or(parts) if parts.is_empty())
    }
}

#[cfg(test)]
mod tests;
