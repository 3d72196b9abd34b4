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
    /// The design document and perhaps the index in it that are to be used; empty for any.
    pub(crate) use_index: Vec<String>,
    pub(crate) bookmark: Option<String>,
    pub(crate) limit: u64,
    pub(crate) skip: u64,
    pub(crate) sort: Sort,
    /// Only these; none for the whole document.
    pub(crate) fields: Vec<Path>,
    pub(crate) partition: Option<String>,
    /// Copies of a document to read. There is one.
    pub(crate) copies: u64,
    pub(crate) conflicts: bool,
    pub(crate) is_stale_ok: bool,
    pub(crate) update: bool,
    pub(crate) stable: bool,
    pub(crate) execution_stats: bool,
    /// Whether another index may be used where the one demanded does not serve.
    pub(crate) allow_fallback: bool,
}

/// The members of a query, in the order in which they are checked.
const MEMBERS: &[&str] = &[
    "selector",
    "use_index",
    "bookmark",
    "limit",
    "skip",
    "sort",
    "fields",
    "partition",
    "r",
    "conflicts",
    "stale",
    "update",
    "stable",
    "execution_stats",
    "allow_fallback",
];

impl FindQuery {
    /// Reads the body of `_find` or `_explain`. What only a cluster needs (`r`, `stable`, `update`, `stale`) is checked and
    /// shown by `_explain`: an index is never behind its documents here.
    ///
    /// # Errors
    /// If a part of the query is invalid.
    pub fn from_json(body: &Value) -> Result<FindQuery, Error> {
        let Value::Object(members) = body else {
            let message = format!("{} is not a JSON object", shown(body));
            return Err(Error::new("invalid_object", message));
        };
        let selector = members
            .get("selector")
            .ok_or_else(|| Error::missing_key("selector"))?;
        let mut query = FindQuery {
            selector: Selector::from_json(selector)?,
            use_index: Vec::new(),
            bookmark: None,
            limit: LIMIT,
            skip: 0,
            sort: Sort::default(),
            fields: Vec::new(),
            partition: None,
            copies: 1,
            conflicts: false,
            is_stale_ok: false,
            update: true,
            stable: false,
            execution_stats: false,
            allow_fallback: true,
        };
        for name in MEMBERS {
            if let Some(value) = members.get(*name) {
                query.take(name, value)?;
            }
        }
        let is_unknown = |name: &&String| !MEMBERS.contains(&name.as_str());
        match members.keys().find(is_unknown) {
            Some(name) => Err(Error::invalid_key(name)),
            None => Ok(query),
        }
    }

    fn take(&mut self, name: &str, value: &Value) -> Result<(), Error> {
        match name {
            "use_index" => self.use_index = use_index(value)?,
            "bookmark" => self.bookmark = bookmark(value)?,
            "limit" => self.limit = count(value)?,
            "skip" => self.skip = count(value)?,
            "sort" => self.sort = Sort::from_json(value)?,
            "fields" => self.fields = fields(value)?,
            "partition" => self.partition = partition(value)?,
            "r" => self.copies = positive(value)?,
            "conflicts" => self.conflicts = boolean(value)?,
            "stale" => self.is_stale_ok = stale(value)?,
            "update" => self.update = boolean(value)?,
            "stable" => self.stable = boolean(value)?,
            "execution_stats" => self.execution_stats = boolean(value)?,
            "allow_fallback" => self.allow_fallback = boolean(value)?,
            _ => {}
        }
        Ok(())
    }

    /// The options beside the selector, in the format of `_explain`.
    pub(crate) fn options_to_json(&self) -> Value {
        let direction = if self.sort.descending { "desc" } else { "asc" };
        let names = self.sort.names().into_iter();
        let sort: Map<String, Value> = names
            .map(|name| (name.to_owned(), json!(direction)))
            .collect();
        let stale = match self.is_stale_ok {
            true => json!("ok"),
            false => json!(false),
        };
        json!({
            "use_index": self.use_index,
            "bookmark": self.bookmark.as_deref().unwrap_or(NO_BOOKMARK),
            "limit": self.limit,
            "skip": self.skip,
            "sort": sort,
            "fields": self.fields_to_json(),
            "partition": self.partition.as_deref().unwrap_or_default(),
            "r": self.copies,
            "conflicts": self.conflicts,
            "stale": stale,
            "update": self.update,
            "stable": self.stable,
            "execution_stats": self.execution_stats,
            "allow_fallback": self.allow_fallback,
        })
    }

    /// The fields that are given; empty for all.
    pub(crate) fn fields_to_json(&self) -> Value {
        self.field_names().map(Value::from).collect()
    }

    /// The names of the fields that are given.
    pub(crate) fn field_names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(Path::as_str)
    }
}

fn count(value: &Value) -> Result<u64, Error> {
    value.as_u64().ok_or_else(|| {
        let value = shown(value);
        let message = format!("{value} is not an integer greater than or equal to zero");
        Error::new("invalid_non_neg_integer", message)
    })
}

/// An integer greater than zero.
pub fn positive(value: &Value) -> Result<u64, Error> {
    value.as_u64().filter(|value| *value > 0).ok_or_else(|| {
        let message = format!("{} is not an integer greater than zero", shown(value));
        Error::new("invalid_pos_integer", message)
    })
}

fn boolean(value: &Value) -> Result<bool, Error> {
    value.as_bool().ok_or_else(|| {
        let message = format!("Invalid boolean value: {}", shown(value));
        Error::new("invalid_boolean", message)
    })
}

fn stale(value: &Value) -> Result<bool, Error> {
    match value {
        Value::String(text) if text == "ok" => Ok(true),
        Value::String(text) if text == "false" => Ok(false),
        Value::Bool(false) => Ok(false),
        _ => {
            let message = format!("stale must be \"ok\" or false, not: {}", shown(value));
            Err(Error::new("invalid_ok_or_false_value", message))
        }
    }
}

fn partition(value: &Value) -> Result<Option<String>, Error> {
    match value {
        Value::String(text) if text.is_empty() => Ok(None),
        Value::String(text) => check_partition(text).map(|()| Some(text.clone())),
        _ => Err(illegal_partition("Partition must be a string")),
    }
}

/// Checks the name of a partition.
///
/// # Errors
/// If it is empty, begins with an underscore or contains a colon.
pub fn check_partition(partition: &str) -> Result<(), Error> {
    let wrong = match partition {
        "" => "Partition must not be empty",
        text if text.starts_with('_') => "Partition must not start with an underscore",
        text if text.contains(':') => "Partition must not contain a colon",
        _ => return Ok(()),
    };
    Err(illegal_partition(wrong))
}

fn illegal_partition(what: &str) -> Error {
    Error::new("illegal_partition", what)
}

fn fields(value: &Value) -> Result<Vec<Path>, Error> {
    let Value::Array(items) = value else {
        let message = format!("Fields must be an array of strings, not: {}", shown(value));
        return Err(Error::new("invalid_fields", message));
    };
    let field = |item: &Value| match item {
        Value::String(name) => Path::parse(name),
        other => {
            let message = format!("Invalid JSON for field spec: {}", shown(other));
            Err(Error::new("invalid_field", message))
        }
    };
    items.iter().map(field).collect()
}

/// `"design"`, `"design/name"`, `["design"]` or `["design", "name"]`, the design document with or without `_design/`.
fn use_index(value: &Value) -> Result<Vec<String>, Error> {
    let invalid = || {
        let message = format!("Invalid index name: {}", shown(value));
        Error::new("invalid_index_name", message)
    };
    let parts: Vec<&str> = match value {
        Value::Null => Vec::new(),
        Value::String(text) => {
            let parts: Vec<&str> = text.split('/').collect();
            match parts.as_slice() {
                ["_design", rest @ ..] if !rest.is_empty() => rest.to_vec(),
                _ => parts,
            }
        }
        Value::Array(items) => {
            let parts = items.iter().map(|item| item.as_str().ok_or_else(invalid));
            parts.collect::<Result<_, _>>()?
        }
        _ => return Err(invalid()),
    };
    match parts.len() {
        0..=2 => Ok(parts.into_iter().map(str::to_owned).collect()),
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
    let message = format!("Invalid bookmark value: {}", Value::from(bookmark));
    Error::new("invalid_bookmark", message)
}
