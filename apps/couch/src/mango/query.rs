//! Queries, as clients write them.

use super::error::shown;
use super::path::Path;
use super::sort::Sort;
use super::{Error, Selector};
use serde_json::{Map, Value, json};

/// Documents that are given when no limit is.
const LIMIT: u64 = 25;

/// The text that means no bookmark.
pub const NO_BOOKMARK: &str = "nil";

/// A query, as `_find` and `_explain` get it.
#[derive(Clone, Debug)]
pub struct FindQuery {
    pub(crate) selector: Selector,
    pub(crate) limit: u64,
    pub(crate) skip: u64,
    pub(crate) sort: Sort,
    /// Only these; none for the whole document.
    pub(crate) fields: Vec<Path>,
    /// The design document, without `_design/`, and the index in it, that are to be used.
    pub(crate) use_index: Option<(String, Option<String>)>,
    pub(crate) bookmark: Option<String>,
    pub(crate) conflicts: bool,
    pub(crate) execution_stats: bool,
    /// Whether another index may be used where the one demanded does not serve.
    pub(crate) allow_fallback: bool,
}

impl FindQuery {
    /// Reads the body of `_find` or `_explain`. What only a cluster needs (`r`, `stable`, `update`, `stale`) is accepted and
    /// means nothing.
    ///
    /// # Errors
    /// If a part of the query is invalid.
    pub fn from_json(body: &Value) -> Result<FindQuery, Error> {
        let Value::Object(members) = body else {
            let message = format!("The query must be a JSON object, not: {}", shown(body));
            return Err(Error::new("invalid_object", message));
        };
        let selector = members
            .get("selector")
            .ok_or_else(|| Error::new("missing_required_key", "Missing required key: selector"))?;
        let mut query = FindQuery {
            selector: Selector::from_json(selector)?,
            limit: LIMIT,
            skip: 0,
            sort: Sort::default(),
            fields: Vec::new(),
            use_index: None,
            bookmark: None,
            conflicts: false,
            execution_stats: false,
            allow_fallback: true,
        };
        for (name, value) in members {
            query.take(name, value)?;
        }
        Ok(query)
    }

    fn take(&mut self, name: &str, value: &Value) -> Result<(), Error> {
        match name {
            "limit" => self.limit = count(value)?,
            "skip" => self.skip = count(value)?,
            "sort" => self.sort = Sort::from_json(value)?,
            "fields" => self.fields = fields(value)?,
            "use_index" => self.use_index = use_index(value)?,
            "bookmark" => self.bookmark = bookmark(value)?,
            "conflicts" => self.conflicts = boolean(value)?,
            "execution_stats" => self.execution_stats = boolean(value)?,
            "allow_fallback" => self.allow_fallback = boolean(value)?,
            "update" | "stable" => drop(boolean(value)?),
            "selector" | "r" | "stale" => {}
            "partition" if *value == json!("") => {}
            _ => {
                let message = format!("Invalid key {name} for this request.");
                return Err(Error::new("invalid_key", message));
            }
        }
        Ok(())
    }

    /// The options beside the selector, in the format of `_explain`.
    pub(crate) fn options_to_json(&self) -> Value {
        let use_index = match &self.use_index {
            None => json!([]),
            Some((design, None)) => json!([design]),
            Some((design, Some(name))) => json!([design, name]),
        };
        let direction = if self.sort.descending { "desc" } else { "asc" };
        let sort: Map<String, Value> = self
            .sort
            .names()
            .into_iter()
            .map(|name| (name.to_owned(), json!(direction)))
            .collect();
        json!({
            "use_index": use_index,
            "bookmark": self.bookmark.as_deref().unwrap_or(NO_BOOKMARK),
            "limit": self.limit,
            "skip": self.skip,
            "sort": sort,
            "fields": self.fields_to_json(),
            "partition": "",
            "r": 1,
            "conflicts": self.conflicts,
            "stale": false,
            "update": true,
            "stable": false,
            "execution_stats": self.execution_stats,
            "allow_fallback": self.allow_fallback,
        })
    }

    /// The fields that are given; empty for all.
    pub(crate) fn fields_to_json(&self) -> Value {
        let fields = self.fields.iter().map(Path::as_str);
        Value::Array(fields.map(Value::from).collect())
    }
}

fn count(value: &Value) -> Result<u64, Error> {
    value.as_u64().ok_or_else(|| {
        let value = shown(value);
        let message = format!("{value} is not an integer greater than or equal to zero");
        Error::new("invalid_non_neg_integer", message)
    })
}

fn boolean(value: &Value) -> Result<bool, Error> {
    value.as_bool().ok_or_else(|| {
        let message = format!("Invalid boolean value: {}", shown(value));
        Error::new("invalid_boolean", message)
    })
}

fn fields(value: &Value) -> Result<Vec<Path>, Error> {
    let invalid = || {
        let message = format!("Fields must be an array of strings, not: {}", shown(value));
        Error::new("invalid_fields", message)
    };
    match value {
        Value::String(all) if all == "all_fields" => Ok(Vec::new()),
        Value::Array(items) => items
            .iter()
            .map(|item| Path::parse(item.as_str().ok_or_else(invalid)?))
            .collect(),
        _ => Err(invalid()),
    }
}

/// `"design"`, `"design/name"`, `["design"]` or `["design", "name"]`, the design document with or without `_design/`.
fn use_index(value: &Value) -> Result<Option<(String, Option<String>)>, Error> {
    let invalid = || {
        let message = format!("Invalid index name: {}", shown(value));
        Error::new("invalid_index_name", message)
    };
    let without_prefix = |name: &str| name.strip_prefix("_design/").unwrap_or(name).to_owned();
    match value {
        Value::Null => Ok(None),
        Value::String(text) => {
            let text = without_prefix(text);
            Ok(Some(match text.split_once('/') {
                Some((design, name)) => (design.to_owned(), Some(name.to_owned())),
                None => (text, None),
            }))
        }
        Value::Array(items) => match items.as_slice() {
            [] => Ok(None),
            [Value::String(design)] => Ok(Some((without_prefix(design), None))),
            [Value::String(design), Value::String(name)] => {
                Ok(Some((without_prefix(design), Some(name.clone()))))
            }
            _ => Err(invalid()),
        },
        _ => Err(invalid()),
    }
}

fn bookmark(value: &Value) -> Result<Option<String>, Error> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) if text.is_empty() || text == NO_BOOKMARK => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        _ => Err(invalid_bookmark(&shown(value))),
    }
}

pub(crate) fn invalid_bookmark(bookmark: &str) -> Error {
    let message = format!("Invalid bookmark value: {bookmark}");
    Error::new("invalid_bookmark", message)
}
