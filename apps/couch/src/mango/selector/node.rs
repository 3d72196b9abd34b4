//! The tree of a selector: conditions on values, and their combinations.

use crate::mango::collate;
use crate::mango::path::{Found, Path};
use regex::Regex;
use serde_json::Value;
use std::cmp::Ordering;

/// A part of a selector in normal form. A field's condition says what to do without the field: nothing matches, but for
/// `$exists: false`.
#[derive(Clone, Debug)]
pub enum Node {
    /// All documents.
    Any,
    /// `$text`: all documents, because a text index would have chosen them.
    Text,
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Box<Node>),
    Field(Path, Condition),
}

impl Node {
    pub fn matches(&self, value: &Value) -> bool {
        match self {
            Node::Any | Node::Text => true,
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

    pub fn is_on_special_fields(&self) -> bool {
        match self {
            Node::Any | Node::Text => false,
            Node::And(parts) | Node::Or(parts) => parts.iter().any(Node::is_on_special_fields),
            Node::Not(part) => part.is_on_special_fields(),
            // The empty path is the document itself.
            Node::Field(path, _) => path.is_special() || path.names().is_empty(),
        }
    }
}

/// A comparison in CouchDB's order of values; of ids, in the order of their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Lt,
    Lte,
    Eq,
    Ne,
    Gte,
    Gt,
}

impl Comparison {
    pub const ALL: [Comparison; 6] = [
        Comparison::Lt,
        Comparison::Lte,
        Comparison::Eq,
        Comparison::Ne,
        Comparison::Gte,
        Comparison::Gt,
    ];

    /// The operator.
    pub fn name(self) -> &'static str {
        match self {
            Comparison::Lt => "$lt",
            Comparison::Lte => "$lte",
            Comparison::Eq => "$eq",
            Comparison::Ne => "$ne",
            Comparison::Gte => "$gte",
            Comparison::Gt => "$gt",
        }
    }

    /// Whether values in this order pass.
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Comparison::Lt => order.is_lt(),
            Comparison::Lte => order.is_le(),
            Comparison::Eq => order.is_eq(),
            Comparison::Ne => order.is_ne(),
            Comparison::Gte => order.is_ge(),
            Comparison::Gt => order.is_gt(),
        }
    }
}

/// A condition on a value that is there.
#[derive(Clone, Debug)]
pub enum Condition {
    Compare(Comparison, Value),
    In(Vec<Value>),
    Nin(Vec<Value>),
    Exists(bool),
    Type(String),
    Mod(i64, i64),
    Regex(Regex),
    BeginsWith(String),
    All(Vec<Value>),
    Size(u64),
    ElemMatch(Box<Node>),
    AllMatch(Box<Node>),
    KeyMapMatch(Box<Node>),
    Not(Box<Condition>),
}

impl Condition {
    /// Whether an index over the field can narrow what is looked at, or covers the condition.
    pub fn is_indexable(&self) -> bool {
        match self {
            Condition::Compare(comparison, _) => *comparison != Comparison::Ne,
            Condition::BeginsWith(_) | Condition::Exists(_) => true,
            _ => false,
        }
    }

    /// Whether a value passes.
    pub fn matches(&self, value: &Value, is_id: bool) -> bool {
        let compare = |one: &Value, other: &Value| match (is_id, one, other) {
            (true, Value::String(one), Value::String(other)) => one.cmp(other),
            // Ids are compared as Erlang's terms, of which strings come last.
            (true, Value::String(_), _) => Ordering::Greater,
            _ => collate::compare(one, other),
        };
        let is_among = |items: &[Value]| {
            let is_equal = |one: &Value| items.iter().any(|item| compare(one, item).is_eq());
            match value {
                Value::Array(values) => values.iter().any(is_equal),
                one => is_equal(one),
            }
        };
        match self {
            Condition::Compare(comparison, argument) => comparison.holds(compare(value, argument)),
            Condition::In(items) => is_among(items),
            Condition::Nin(items) => !is_among(items),
            Condition::Exists(exists) => *exists,
            Condition::Type(name) => name == type_name(value),
            Condition::Mod(divisor, remainder) => value
                .as_i64()
                .is_some_and(|value| value.checked_rem(*divisor) == Some(*remainder)),
            Condition::Regex(regex) => value.as_str().is_some_and(|text| regex.is_match(text)),
            Condition::BeginsWith(start) => {
                value.as_str().is_some_and(|text| text.starts_with(start))
            }
            Condition::All(items) => has_all(value, items),
            Condition::Size(size) => value.as_array().is_some_and(|it| it.len() as u64 == *size),
            Condition::ElemMatch(node) => value
                .as_array()
                .is_some_and(|items| items.iter().any(|item| node.matches(item))),
            Condition::AllMatch(node) => value.as_array().is_some_and(|items| {
                !items.is_empty() && items.iter().all(|item| node.matches(item))
            }),
            Condition::KeyMapMatch(node) => value.as_object().is_some_and(|members| {
                let mut names = members.keys().map(|name| Value::from(name.as_str()));
                names.any(|name| node.matches(&name))
            }),
            Condition::Not(condition) => !condition.matches(value, is_id),
        }
    }
}

/// Whether an array has all the items, or is the one array that they are. An empty list of them matches nothing.
fn has_all(value: &Value, items: &[Value]) -> bool {
    let Value::Array(values) = value else {
        return false;
    };
    match items {
        [] => false,
        [Value::Array(only)] if only == values => true,
        items => items.iter().all(|item| values.contains(item)),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
