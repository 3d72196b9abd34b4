//! Selectors as clients write them, brought into normal form.

use super::negate;
use super::node::{Comparison, Condition, Node};
use crate::mango::Error;
use crate::mango::error::shown;
use crate::mango::path::Path;
use regex::RegexBuilder;
use serde_json::{Map, Value};

/// Levels that a selector may nest.
const DEPTH_MAX: usize = 100;

/// Conditions that a selector may have.
const CONDITIONS_MAX: usize = 10_000;

/// Bytes that a compiled regular expression may take.
const REGEX_BYTES_MAX: usize = 1 << 20;

/// Operators that are known to others.
const UNSUPPORTED: &[&str] = &[
    "$where",
    "$geoWithin",
    "$geoIntersects",
    "$near",
    "$nearSphere",
    "$text",
];

/// Reads a selector.
pub fn selector(value: &Value) -> Result<Node, Error> {
    let Value::Object(members) = value else {
        let message = format!("Selector must be a JSON object, not: {}", shown(value));
        return Err(Error::new("invalid_selector_json", message));
    };
    if members.is_empty() {
        return Ok(Node::Any);
    }
    let mut parser = Parser { conditions: 0 };
    let node = negate::push_down(parser.members(members, None, DEPTH_MAX)?);
    match is_on_nothing(&node) {
        false => Ok(node),
        true => Err(Error::new(
            "invalid_selector",
            "One or more conditions is missing a field name.",
        )),
    }
}

/// Whether a condition is on the document as a whole.
fn is_on_nothing(node: &Node) -> bool {
    match node {
        Node::Any => false,
        Node::And(parts) | Node::Or(parts) => parts.iter().any(is_on_nothing),
        Node::Not(part) => is_on_nothing(part),
        Node::Field(path, _) => path.names().is_empty(),
    }
}

/// A field that is being named: the path so far; none at the top.
type Prefix<'a> = Option<&'a Path>;

struct Parser {
    conditions: usize,
}

impl Parser {
    fn members(
        &mut self,
        members: &Map<String, Value>,
        prefix: Prefix<'_>,
        depth: usize,
    ) -> Result<Node, Error> {
        let depth = depth
            .checked_sub(1)
            .ok_or_else(|| too_much(format!("nested more than {DEPTH_MAX} levels deep")))?;
        let mut nodes = Vec::with_capacity(members.len());
        for (name, value) in members {
            self.conditions += 1;
            if self.conditions > CONDITIONS_MAX {
                return Err(too_much(format!(
                    "of more than {CONDITIONS_MAX} conditions"
                )));
            }
            nodes.push(match name.starts_with('$') {
                true => self.operator(name, value, prefix, depth)?,
                false => self.field(name, value, prefix, depth)?,
            });
        }
        match nodes.len() {
            1 => Ok(nodes.remove(0)),
            _ => Ok(Node::And(nodes)),
        }
    }

    /// `"name": condition`
    fn field(
        &mut self,
        name: &str,
        value: &Value,
        prefix: Prefix<'_>,
        depth: usize,
    ) -> Result<Node, Error> {
        let whole = match prefix.map(Path::as_str).unwrap_or_default() {
            "" => name.to_owned(),
            before => format!("{before}.{name}"),
        };
        if whole.is_empty() {
            return Err(Error::new(
                "invalid_selector",
                "One or more conditions is missing a field name.",
            ));
        }
        let path = Path::parse(&whole)?;
        match value {
            Value::Object(members) if !members.is_empty() => {
                self.members(members, Some(&path), depth)
            }
            value => Ok(Node::Field(path, equals(value))),
        }
    }

    /// `"$operator": argument`
    fn operator(
        &mut self,
        name: &str,
        argument: &Value,
        prefix: Prefix<'_>,
        depth: usize,
    ) -> Result<Node, Error> {
        match name {
            "$and" => Ok(Node::And(self.list(name, argument, prefix, depth)?)),
            "$or" => Ok(Node::Or(self.list(name, argument, prefix, depth)?)),
            "$nor" => {
                let parts = self.list(name, argument, prefix, depth)?.into_iter();
                let negated = parts.map(|part| Node::Not(Box::new(part)));
                Ok(Node::And(negated.collect()))
            }
            "$not" => {
                let members = object(name, argument)?;
                let part = self.members(members, prefix, depth)?;
                Ok(Node::Not(Box::new(part)))
            }
            _ => {
                let path = prefix.cloned().unwrap_or_else(Path::here);
                let condition = self.condition(name, argument, depth)?;
                Ok(Node::Field(path, condition))
            }
        }
    }

    fn list(
        &mut self,
        name: &str,
        argument: &Value,
        prefix: Prefix<'_>,
        depth: usize,
    ) -> Result<Vec<Node>, Error> {
        let parts = array(name, argument)?.iter();
        let part = |part: &Value| match part {
            Value::Object(members) if members.is_empty() && prefix.is_none() => Ok(Node::Any),
            Value::Object(members) if !members.is_empty() => self.members(members, prefix, depth),
            // A bare value stands for equality with it, which needs a field.
            value => Ok(Node::Field(
                prefix.cloned().unwrap_or_else(Path::here),
                equals(value),
            )),
        };
        parts.map(part).collect()
    }

    fn condition(
        &mut self,
        name: &str,
        argument: &Value,
        depth: usize,
    ) -> Result<Condition, Error> {
        let bad = || Error::bad_argument(name, argument);
        if let Some(comparison) = Comparison::ALL.into_iter().find(|it| it.name() == name) {
            return Ok(Condition::Compare(comparison, argument.clone()));
        }
        Ok(match name {
            "$in" => Condition::In(array(name, argument)?.clone()),
            "$nin" => Condition::Nin(array(name, argument)?.clone()),
            "$all" => Condition::All(array(name, argument)?.clone()),
            "$exists" => Condition::Exists(argument.as_bool().ok_or_else(bad)?),
            "$type" => Condition::Type(text(name, argument)?),
            "$beginsWith" => Condition::BeginsWith(text(name, argument)?),
            "$size" => Condition::Size(argument.as_u64().ok_or_else(bad)?),
            "$mod" => modulo(argument).ok_or_else(bad)?,
            "$regex" => regex(argument)?,
            "$elemMatch" => Condition::ElemMatch(self.items(name, argument, depth)?),
            "$allMatch" => Condition::AllMatch(self.items(name, argument, depth)?),
            "$keyMapMatch" => Condition::KeyMapMatch(self.items(name, argument, depth)?),
            _ if UNSUPPORTED.contains(&name) => {
                let message = format!("Unsupported operator: {name}");
                return Err(Error::new("not_supported", message));
            }
            _ => {
                let message = format!("Invalid operator: {name}");
                return Err(Error::new("invalid_operator", message));
            }
        })
    }

    /// A selector on each item: its conditions may be on the item itself.
    fn items(&mut self, name: &str, argument: &Value, depth: usize) -> Result<Box<Node>, Error> {
        let members = object(name, argument)?;
        if members.is_empty() {
            return Ok(Box::new(Node::Any));
        }
        self.members(members, None, depth).map(Box::new)
    }
}

fn equals(value: &Value) -> Condition {
    Condition::Compare(Comparison::Eq, value.clone())
}

fn object<'a>(name: &str, argument: &'a Value) -> Result<&'a Map<String, Value>, Error> {
    let members = argument.as_object();
    members.ok_or_else(|| Error::bad_argument(name, argument))
}

fn array<'a>(name: &str, argument: &'a Value) -> Result<&'a Vec<Value>, Error> {
    let items = argument.as_array();
    items.ok_or_else(|| Error::bad_argument(name, argument))
}

fn text(name: &str, argument: &Value) -> Result<String, Error> {
    let text = argument.as_str().map(str::to_owned);
    text.ok_or_else(|| Error::bad_argument(name, argument))
}

fn modulo(argument: &Value) -> Option<Condition> {
    let [divisor, remainder] = argument.as_array()?.as_slice() else {
        return None;
    };
    let divisor = divisor.as_i64().filter(|divisor| *divisor != 0)?;
    Some(Condition::Mod(divisor, remainder.as_i64()?))
}

fn regex(argument: &Value) -> Result<Condition, Error> {
    let pattern = text("$regex", argument)?;
    let built = RegexBuilder::new(&pattern)
        .size_limit(REGEX_BYTES_MAX)
        .build();
    built.map(Condition::Regex).map_err(|error| {
        let argument = shown(argument);
        let message = format!("Bad argument for operator $regex: {argument}: {error}");
        Error::new("bad_arg", message)
    })
}

fn too_much(what: String) -> Error {
    Error::new("invalid_selector", format!("The selector is {what}."))
}
