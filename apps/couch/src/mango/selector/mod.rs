//! Conditions on documents.

mod negate;
mod node;
mod parse;
mod required;
mod show;

pub(super) use node::Comparison;

use super::Error;
use node::Node;
use serde_json::Value;

/// A condition on documents, in CouchDB's normal form.
#[derive(Clone, Debug)]
pub struct Selector(pub(super) Node);

impl Selector {
    /// Reads a selector as clients write it.
    ///
    /// # Errors
    /// If an operator is unknown or has a wrong argument, a condition names no field, or the selector is too deep or
    /// too large.
    pub fn from_json(selector: &Value) -> Result<Selector, Error> {
        parse::selector(selector).map(Selector)
    }

    /// Returns whether it needs more of a document than its body: `_id`, `_rev`, `_deleted` or `_attachments`.
    pub(crate) fn is_on_special_fields(&self) -> bool {
        self.0.is_on_special_fields()
    }

    /// Returns whether the text of a JSON object matches. Text nested too deep for serde_json matches nothing.
    pub(crate) fn matches_text(&self, text: &str) -> bool {
        serde_json::from_str(text).is_ok_and(|value| self.matches_value(&value))
    }

    /// Whether a value is meant.
    pub(super) fn matches_value(&self, value: &Value) -> bool {
        self.0.matches(value)
    }

    /// The selector in normal form, as `_explain` shows it.
    pub(crate) fn to_json(&self) -> Value {
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

#[cfg(test)]
mod tests;
