//! The normal form of selectors: operators in full, names of fields in full, negations at the conditions.
//!
//! Every object of the normal form has one member, but for the selector of all documents. The form decides which index a
//! query can use and is what `_explain` shows, so it is CouchDB's, step by step. Source: `mango_selector:normalize`.

use super::super::Error;
use super::super::error::shown;
use super::regex;
use serde_json::{Map, Value, json};

/// Levels that a selector may nest.
const DEPTH_MAX: usize = 100;

/// Conditions that a selector may have.
const CONDITIONS_MAX: usize = 10_000;

/// Operators that others know and CouchDB does not support.
const UNSUPPORTED: &[&str] = &[
    "$where",
    "$geoWithin",
    "$geoIntersects",
    "$near",
    "$nearSphere",
];

/// Operators that take any value.
const COMPARISONS: &[&str] = &["$lt", "$lte", "$eq", "$ne", "$gte", "$gt"];

/// Operators and what their negations are.
const OPPOSITES: &[(&str, &str)] = &[
    ("$lt", "$gte"),
    ("$lte", "$gt"),
    ("$eq", "$ne"),
    ("$in", "$nin"),
];

/// The field that stands for the text of a whole document.
pub const TEXT: &str = "$default";

/// Brings a selector into normal form.
///
/// # Errors
/// If an operator is unknown or has a wrong argument, a condition names no field, or the selector is too large.
pub fn normalize(selector: &Value) -> Result<Value, Error> {
    let Value::Object(members) = selector else {
        let message = format!("Selector must be a JSON object, not: {}", shown(selector));
        return Err(Error::new("invalid_selector_json", message));
    };
    if members.is_empty() {
        return Ok(json!({}));
    }
    let mut operators = Operators { conditions: 0 };
    let normal = negations(with_fields(operators.of_object(members, DEPTH_MAX)?, "")?)?;
    match member(&normal).0 {
        "" => Err(Error::new(
            "invalid_selector",
            "One or more conditions is missing a field name.",
        )),
        _ => Ok(normal),
    }
}

/// The one member of an object in normal form.
pub fn member(value: &Value) -> (&str, &Value) {
    let members = value.as_object().and_then(|members| members.iter().next());
    members.map_or(("", &Value::Null), |(name, value)| (name, value))
}

fn take_member(value: Value) -> (String, Value) {
    match value {
        Value::Object(members) => members.into_iter().next().unwrap_or_default(),
        other => (String::new(), other),
    }
}

fn map_list(list: Value, map: impl FnMut(Value) -> Result<Value, Error>) -> Result<Value, Error> {
    match list {
        Value::Array(parts) => parts.into_iter().map(map).collect(),
        other => Err(Error::bad_argument("$and", &other)),
    }
}

/// The first step: every condition gets its operator, several conditions become a `$and`.
struct Operators {
    conditions: usize,
}

impl Operators {
    fn of_value(&mut self, value: &Value, depth: usize) -> Result<Value, Error> {
        match value {
            Value::Object(members) if !members.is_empty() => self.of_object(members, depth),
            // A bare value stands for equality with it.
            value => Ok(json!({ "$eq": value })),
        }
    }

    fn of_object(&mut self, members: &Map<String, Value>, depth: usize) -> Result<Value, Error> {
        let depth = depth
            .checked_sub(1)
            .ok_or_else(|| too_much(format!("nested more than {DEPTH_MAX} levels deep")))?;
        let mut parts = Vec::with_capacity(members.len());
        for (name, argument) in members {
            self.conditions += 1;
            if self.conditions > CONDITIONS_MAX {
                let what = format!("of more than {CONDITIONS_MAX} conditions");
                return Err(too_much(what));
            }
            parts.push(self.of_member(name, argument, depth)?);
        }
        match parts.len() {
            1 => Ok(parts.remove(0)),
            _ => Ok(json!({ "$and": parts })),
        }
    }

    fn of_member(&mut self, name: &str, argument: &Value, depth: usize) -> Result<Value, Error> {
        let bad = || Error::bad_argument(name, argument);
        let is_good = match name {
            "$and" | "$or" | "$nor" => {
                let parts = argument.as_array().ok_or_else(bad)?.iter();
                let parts: Result<Vec<Value>, _> =
                    parts.map(|part| self.of_value(part, depth)).collect();
                return Ok(json!({ name: parts? }));
            }
            "$not" | "$elemMatch" | "$allMatch" | "$keyMapMatch" if argument.is_object() => {
                return Ok(json!({ name: self.of_value(argument, depth)? }));
            }
            "$not" | "$elemMatch" | "$allMatch" | "$keyMapMatch" => false,
            "$in" | "$nin" | "$all" => argument.is_array(),
            "$exists" => argument.is_boolean(),
            "$type" => argument.is_string(),
            "$size" => argument.is_u64(),
            "$mod" => is_modulo(argument),
            "$regex" => {
                regex::compile(argument.as_str().ok_or_else(bad)?)?;
                true
            }
            "$text" if argument.is_string() || argument.is_number() || argument.is_boolean() => {
                return Ok(json!({ TEXT: { name: argument } }));
            }
            "$text" => false,
            "$beginsWith" if argument.is_string() => true,
            TEXT => true,
            name if COMPARISONS.contains(&name) => true,
            name if UNSUPPORTED.contains(&name) => {
                let message = format!("Unsupported operator: {name}");
                return Err(Error::new("not_supported", message));
            }
            name if name.starts_with('$') => {
                let message = format!("Invalid operator: {name}");
                return Err(Error::new("invalid_operator", message));
            }
            field => return Ok(json!({ field: self.of_value(argument, depth)? })),
        };
        match is_good {
            true => Ok(json!({ name: argument })),
            false => Err(bad()),
        }
    }
}

/// Two integers, of which the first can divide.
fn is_modulo(argument: &Value) -> bool {
    let numbers = argument.as_array().map(Vec::as_slice);
    let Some([divisor, remainder]) = numbers else {
        return false;
    };
    divisor.as_i64().is_some_and(|divisor| divisor != 0) && remainder.is_i64()
}

/// The second step: names of fields move to the conditions, through `$and` and the like. What `$elemMatch` says of items
/// begins with names of its own; the empty name is the item itself.
fn with_fields(value: Value, path: &str) -> Result<Value, Error> {
    let (name, argument) = take_member(value);
    Ok(match name.as_str() {
        "$and" | "$or" | "$nor" => {
            json!({ name: map_list(argument, |part| with_fields(part, path))? })
        }
        "$not" => json!({ name: with_fields(argument, path)? }),
        "$elemMatch" | "$allMatch" | "$keyMapMatch" => {
            json!({ path: { name: with_fields(argument, "")? } })
        }
        TEXT if path.is_empty() && member(&argument).0 == "$text" => json!({ name: argument }),
        TEXT => {
            let argument = json!({ TEXT: argument });
            let message = format!(
                "Invalid field normalization on selector: {}",
                shown(&argument)
            );
            return Err(Error::new("bad_field", message));
        }
        operator if operator.starts_with('$') => json!({ path: { operator: argument } }),
        field if path.is_empty() => with_fields(argument, field)?,
        field => with_fields(argument, &format!("{path}.{field}"))?,
    })
}

/// The third step: negations move to the conditions, and into them where they have an opposite.
///
/// Of a field that is not there, neither a comparison nor its opposite is true: `{"$not": {"a": {"$gt": 1}}}` is
/// `{"a": {"$lte": 1}}`, and needs `a`.
fn negations(value: Value) -> Result<Value, Error> {
    let (name, argument) = take_member(value);
    match name.as_str() {
        "$not" => negate(argument),
        "$nor" => Ok(json!({ "$and": map_list(argument, negate)? })),
        "$and" | "$or" => Ok(json!({ name: map_list(argument, negations)? })),
        _ => Ok(json!({ name: argument })),
    }
}

fn negate(value: Value) -> Result<Value, Error> {
    let (name, argument) = take_member(value);
    let opposite = OPPOSITES
        .iter()
        .find_map(|(one, other)| match name.as_str() {
            name if name == *one => Some(*other),
            name if name == *other => Some(*one),
            _ => None,
        });
    Ok(match (name.as_str(), opposite) {
        (_, Some(opposite)) => json!({ opposite: argument }),
        ("$not", _) => negations(argument)?,
        ("$nor", _) => json!({ "$or": map_list(argument, negations)? }),
        ("$and", _) => json!({ "$or": map_list(argument, negate)? }),
        ("$or", _) => json!({ "$and": map_list(argument, negate)? }),
        ("$exists", _) => json!({ name: argument == json!(false) }),
        (TEXT, _) => return Err(Error::bad_argument("$not", &json!({ TEXT: argument }))),
        (operator, _) if operator.starts_with('$') => json!({ "$not": { operator: argument } }),
        (field, _) => json!({ field: negate(argument)? }),
    })
}

fn too_much(what: String) -> Error {
    Error::new("invalid_selector", format!("The selector is {what}."))
}
