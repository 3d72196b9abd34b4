//! The order results, or the fields of an index, are in.

use super::Error;
use super::error::shown;
use super::path::Path;
use serde_json::{Value, json};

/// Fields and one direction for all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    pub fields: Vec<Path>,
    pub descending: bool,
}

impl Sort {
    /// Reads `["a", {"b": "asc"}]`.
    pub fn from_json(value: &Value) -> Result<Self, Error> {
        let invalid = |name, what: &str, value: &Value| {
            Err(Error::new(name, format!("{what}: {}", shown(value))))
        };
        let Value::Array(items) = value else {
            let what = "Sort must be an array of sort specs, not";
            return invalid("invalid_sort_json", what, value);
        };
        let mut sort = Sort::default();
        for (index, item) in items.iter().enumerate() {
            let (name, direction) = match item {
                Value::String(name) => (name, "asc"),
                Value::Object(members) => match members.iter().next() {
                    Some((name, Value::String(direction))) if members.len() == 1 => {
                        (name, direction.as_str())
                    }
                    _ => return invalid("invalid_sort_field", "Invalid sort field", item),
                },
                _ => return invalid("invalid_sort_field", "Invalid sort field", item),
            };
            let descending = match direction {
                _ if name.is_empty() => {
                    return invalid("invalid_sort_field", "Invalid sort field", item);
                }
                "asc" => false,
                "desc" => true,
                _ => return invalid("invalid_sort_field", "Invalid sort field", item),
            };
            if index > 0 && descending != sort.descending {
                return Err(Error::new(
                    "unsupported_mixed_sort",
                    "Sorts currently only support a single direction for all fields.",
                ));
            }
            sort.descending = descending;
            sort.fields.push(Path::parse(name)?);
        }
        Ok(sort)
    }

    /// The sort order in the format of `_index`.
    pub fn to_json(&self) -> Vec<Value> {
        let direction = if self.descending { "desc" } else { "asc" };
        let fields = self.fields.iter();
        fields
            .map(|field| json!({ field.as_str(): direction }))
            .collect()
    }

    /// The fields' names.
    pub fn names(&self) -> Vec<&str> {
        self.fields.iter().map(Path::as_str).collect()
    }
}
