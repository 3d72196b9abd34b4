//! Selectors in normal form, made ready to be matched.

use super::node::{Comparison, Condition, Node};
use super::normal::{TEXT, member};
use super::regex;
use crate::mango::Error;
use crate::mango::path::Path;
use serde_json::Value;

/// Compiles a selector in normal form.
///
/// # Errors
/// If a field has no name that can be one.
pub fn selector(normal: &Value) -> Result<Node, Error> {
    if normal.as_object().is_some_and(|members| members.is_empty()) {
        return Ok(Node::Any);
    }
    let (name, argument) = member(normal);
    Ok(match name {
        "$and" => Node::And(list(argument)?),
        "$or" => Node::Or(list(argument)?),
        "$nor" => Node::Not(Box::new(Node::Or(list(argument)?))),
        "$not" => Node::Not(Box::new(selector(argument)?)),
        TEXT => Node::Text,
        "" => Node::Field(Path::here(), condition(argument)?),
        field => Node::Field(Path::parse(field)?, condition(argument)?),
    })
}

fn list(parts: &Value) -> Result<Vec<Node>, Error> {
    let parts = parts.as_array().map(Vec::as_slice).unwrap_or_default();
    parts.iter().map(selector).collect()
}

fn condition(normal: &Value) -> Result<Condition, Error> {
    let (name, argument) = member(normal);
    let items = || argument.as_array().cloned().unwrap_or_default();
    let text = || argument.as_str().unwrap_or_default();
    if let Some(comparison) = Comparison::ALL.into_iter().find(|it| it.name() == name) {
        return Ok(Condition::Compare(comparison, argument.clone()));
    }
    Ok(match name {
        "$in" => Condition::In(items()),
        "$nin" => Condition::Nin(items()),
        "$all" => Condition::All(items()),
        "$exists" => Condition::Exists(argument == &Value::Bool(true)),
        "$type" => Condition::Type(text().to_owned()),
        "$beginsWith" => Condition::BeginsWith(text().to_owned()),
        "$size" => Condition::Size(argument.as_u64().unwrap_or_default()),
        "$mod" => {
            let number = |index: usize| argument[index].as_i64().unwrap_or_default();
            Condition::Mod(number(0), number(1))
        }
        "$regex" => Condition::Regex(regex::compile(text())?),
        "$elemMatch" => Condition::ElemMatch(Box::new(selector(argument)?)),
        "$allMatch" => Condition::AllMatch(Box::new(selector(argument)?)),
        "$keyMapMatch" => Condition::KeyMapMatch(Box::new(selector(argument)?)),
        "$not" => Condition::Not(Box::new(condition(argument)?)),
        _ => return Err(Error::bad_argument(name, argument)),
    })
}
