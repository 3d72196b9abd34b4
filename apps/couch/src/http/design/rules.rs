//! Rules of `_rewrite`: `{"from": "/films/:year/*", "to": "_view/by-year/*", "method": "GET", "query": {"key": ":year"}}`.
//!
//! Source: `chttpd_rewrite`. A part `:name` or `<name>` binds a variable; `*` at the end binds what is left of a path.

use crate::http::params::Params;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

/// The result of a rule. The path is relative to the design document.
#[derive(Debug, PartialEq)]
pub struct Rewritten {
    pub path: String,
    pub query: Vec<(String, String)>,
    /// The method; none for that of the request.
    pub method: Option<String>,
}

impl Rewritten {
    /// Returns whether the path stays below the database of the design document.
    pub fn is_within_database(&self) -> bool {
        let path = self.path.split('?').next().unwrap_or_default();
        // Below the database: `_design` and the name.
        let depth = path.split('/').try_fold(2_usize, |depth, part| match part {
            "" | "." => Some(depth),
            ".." => depth.checked_sub(1),
            _ => Some(depth + 1),
        });
        depth.is_some()
    }
}

/// The parameters whose values are JSON.
const JSON: &[&str] = &["key", "startkey", "start_key", "endkey", "end_key", "keys"];

/// The variables that a rule bound, in their order.
type Bindings = Vec<(String, Value)>;

/// Returns whether no rule leaves the database: at most two parts of a path are `..`.
pub fn are_secure(rules: &[Value]) -> bool {
    let leaves = |path: &str| path.split('/').filter(|part| *part == "..").count() > 2;
    let has = |rule: &Value, name| rule.get(name).and_then(Value::as_str).is_some_and(leaves);
    !rules
        .iter()
        .any(|rule| has(rule, "from") || has(rule, "to"))
}

/// Applies the first rule that matches a request.
pub fn first(rules: &[Value], method: &str, path: &[String], params: &Params) -> Option<Rewritten> {
    rules
        .iter()
        .find_map(|rule| apply(rule.as_object()?, method, path, params))
}

fn apply(
    rule: &Map<String, Value>,
    method: &str,
    path: &[String],
    params: &Params,
) -> Option<Rewritten> {
    let text = |name: &str| rule.get(name).and_then(Value::as_str);
    let of = text("method").unwrap_or("*");
    if of != "*" && of != method {
        return None;
    }
    let from = parts(text("from").unwrap_or("*"));
    let path: Vec<&str> = path
        .iter()
        .map(String::as_str)
        .filter(|part| !part.is_empty())
        .collect();
    let (mut bound, rest) = bind(&from, &path)?;
    for (name, value) in params.pairs() {
        bound.push((name.to_owned(), value.into()));
    }
    let wanted = rule.get("query").and_then(Value::as_object);
    let mut query: Vec<(String, Value)> = Vec::new();
    for (name, value) in wanted.into_iter().flatten() {
        query.push((name.clone(), filled(value, &bound, &rest)));
    }
    for (name, value) in &bound {
        if !query.iter().any(|(known, _)| known == name) {
            query.push((name.clone(), value.clone()));
        }
    }
    let mut to: Vec<String> = Vec::new();
    for part in parts(text("to").unwrap_or("")) {
        match (variable(part), part) {
            (_, "*") => to.extend(rest.iter().map(|part| quoted(part))),
            (None, part) if part == ".." || part == "." => to.push(part.to_owned()),
            (None, part) => to.push(quoted(part)),
            (Some(name), part) => {
                let value = value_of(&bound, name).and_then(Value::as_str);
                to.push(quoted(value.unwrap_or(part)));
            }
        }
    }
    let query = query.into_iter().map(|(name, value)| {
        let text = encoded(&name, &value);
        (name, text)
    });
    Some(Rewritten {
        path: to.join("/"),
        query: query.collect(),
        method: None,
    })
}

fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty()).collect()
}

fn variable(part: &str) -> Option<&str> {
    part.strip_prefix(':')
        .or_else(|| part.strip_prefix('<')?.strip_suffix('>'))
        .filter(|name| !name.is_empty())
}

fn value_of<'a>(bound: &'a Bindings, name: &str) -> Option<&'a Value> {
    bound
        .iter()
        .find(|(known, _)| known == name)
        .map(|(_, value)| value)
}

/// Returns the variables and the text that `*` matches; none if the path does not match.
fn bind<'a>(from: &[&str], path: &[&'a str]) -> Option<(Bindings, Vec<&'a str>)> {
    let mut bound = Bindings::new();
    let mut path = path.iter();
    for (at, part) in from.iter().enumerate() {
        if *part == "*" && at + 1 == from.len() {
            return Some((bound, path.copied().collect()));
        }
        let given = path.next()?;
        match variable(part) {
            Some(name) => bound.push((name.to_owned(), (*given).into())),
            None if part == given => {}
            None => return None,
        }
    }
    path.next().is_none().then_some((bound, Vec::new()))
}

/// Returns a value of a rule's query with the variables replaced.
fn filled(value: &Value, bound: &Bindings, rest: &[&str]) -> Value {
    match value {
        Value::String(text) if text == "*" => rest.join("/").into(),
        Value::String(text) => {
            let found = variable(text).and_then(|name| value_of(bound, name));
            found.unwrap_or(value).clone()
        }
        Value::Array(items) => items.iter().map(|item| filled(item, bound, rest)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), filled(value, bound, rest)))
            .collect(),
        other => other.clone(),
    }
}

/// Returns a value as a parameter, converted to JSON if the parameter expects JSON.
fn encoded(name: &str, value: &Value) -> String {
    match value {
        Value::String(text) if !JSON.contains(&name) => text.clone(),
        Value::String(text) if serde_json::from_str::<Value>(text).is_ok() => text.clone(),
        other => other.to_string(),
    }
}

/// The characters that are not percent-encoded.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

fn quoted(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

/// Resolves `.` and `..` in a path. Returns the path and its query.
pub fn normalized(path: &str, query: &[(String, String)]) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let (path, own_query) = path.split_once('?').unwrap_or((path, ""));
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(kept.pop()),
            part => kept.push(part),
        }
    }
    let mut pairs: Vec<String> = query
        .iter()
        .map(|(name, value)| format!("{}={}", quoted(name), quoted(value)))
        .collect();
    if !own_query.is_empty() {
        pairs.insert(0, own_query.to_owned());
    }
    let path = format!("/{}", kept.join("/"));
    match pairs.is_empty() {
        true => path,
        false => format!("{path}?{}", pairs.join("&")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rewritten(rules: Value, path: &str, query: &str) -> Option<String> {
        let path: Vec<String> = path.split('/').map(str::to_owned).collect();
        let rules = rules.as_array().unwrap();
        let found = first(rules, "GET", &path, &Params::parse(query))?;
        Some(normalized(
            &format!("/db/_design/d/{}", found.path),
            &found.query,
        ))
    }

    #[test]
    fn variables_and_the_rest_of_a_path_are_filled_in() {
        let rules = json!([
            {"from": "/post", "to": "x", "method": "POST"},
            {"from": "/films/:year/*", "to": "_show/*/:year", "query": {"key": ":year", "a": ["*", 1]}},
            {"from": "up", "to": "../../../other"},
            {"from": "", "to": "index.html"},
        ]);
        let of = |path: &str| rewritten(rules.clone(), path, "");
        let films = "/db/_design/d/_show/a/b/1979?key=1979&a=%5B%22a%2Fb%22%2C1%5D&year=1979";
        assert_eq!(of("films/1979/a/b").as_deref(), Some(films));
        assert_eq!(of("up").as_deref(), Some("/other"));
        assert_eq!(of("").as_deref(), Some("/db/_design/d/index.html"));
        assert_eq!(of("post"), None);
        assert_eq!(of("films"), None);
    }

    #[test]
    fn a_request_does_not_lead_out_of_the_database() {
        let rules = json!([{"from": ":a/:b/*", "to": ":a/:b/*"}]);
        let of = |path: &str| {
            let path: Vec<String> = path.split('/').map(str::to_owned).collect();
            let found = first(rules.as_array().unwrap(), "GET", &path, &Params::parse(""));
            found.unwrap().is_within_database()
        };
        assert!(of("../../_all_docs") && of("a/../../../_all_docs") && of("../.."));
        assert!(!of("../../../other") && !of("../../../db/a"));
    }

    #[test]
    fn parameters_of_the_request_are_kept() {
        let rules = json!([{"from": "*", "to": "../../*"}]);
        let found = rewritten(rules, "_all_docs", "limit=1&startkey=%22a%22");
        assert_eq!(
            found.as_deref(),
            Some("/db/_all_docs?limit=1&startkey=%22a%22")
        );
    }
}
