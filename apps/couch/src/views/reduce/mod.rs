//! Reduce functions: CouchDB's own, and those of design documents.

mod count;
mod distinct;
mod distinct_data;
mod ends;
mod number;
mod rank;
mod stats;
mod sum;

use super::node::{Emitted, entries};
use super::{Error, Result};
use std::fmt;

/// A row as reduce functions see it; key and value are JSON.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    pub key: &'a str,
    pub id: &'a str,
    pub value: &'a str,
}

/// One of CouchDB's own reduce functions. A reduction is kept as bytes that only the function itself reads.
pub trait Builtin: fmt::Debug + Send + Sync {
    /// Bytes of a reduction, about.
    fn bytes(&self) -> usize;

    /// Reduces rows.
    fn reduce(&self, rows: &[Row<'_>]) -> Vec<u8>;

    /// Reduces reductions.
    fn rereduce(&self, parts: &[&[u8]]) -> Vec<u8>;

    /// Returns the value that is shown, as JSON.
    ///
    /// # Errors
    /// Why there is none.
    fn finish(&self, reduction: &[u8]) -> std::result::Result<String, String>;
}

/// Makes a function from the rest of its name.
type Make = fn(&str) -> std::result::Result<Box<dyn Builtin>, String>;

/// The functions by the beginnings of their names: a longer name means the same, as in CouchDB.
const BUILTINS: &[(&str, Make)] = &[
    ("_sum", |_| Ok(Box::new(sum::Sum))),
    ("_count", |_| Ok(Box::new(count::Count))),
    ("_stats", |_| Ok(Box::new(stats::Stats))),
    ("_approx_count_distinct", |_| {
        Ok(Box::new(distinct::Distinct))
    }),
    ("_top_", |rest| rank::Rank::make(rest, true)),
    ("_bottom_", |rest| rank::Rank::make(rest, false)),
    ("_first", |_| Ok(Box::new(ends::End::First))),
    ("_last", |_| Ok(Box::new(ends::End::Last))),
];

/// Finds the function that a source names, if it begins with an underscore.
///
/// # Errors
/// If there is none of that name.
pub fn builtin(source: &str) -> Option<std::result::Result<Box<dyn Builtin>, String>> {
    if !source.starts_with('_') {
        return None;
    }
    let known = |(name, make): &(&str, Make)| source.strip_prefix(name).map(make);
    let unknown = || Err(format!("`{source}` is not a supported reduce function."));
    Some(BUILTINS.iter().find_map(known).unwrap_or_else(unknown))
}

/// A reduce function of a view.
#[derive(Debug)]
pub enum Reducer {
    /// One of CouchDB's own.
    Builtin(Box<dyn Builtin>),
    /// The function of that number in the design document.
    Script(usize),
}

/// A call of a function of the design document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptCall {
    /// Its number.
    pub function: usize,
    pub is_rereduce: bool,
    /// A JSON array: of `[[key, id], value]`, or of reductions.
    pub values: String,
}

/// Calls functions of the design document. It may block.
pub type CallScripts<'a> = dyn Fn(&[ScriptCall]) -> Result<Vec<String>> + 'a;

/// What is to be reduced: the rows of a leaf as it is stored, or the reductions of children, each with one per function.
#[derive(Debug)]
pub enum Request<'a> {
    Rows(&'a [u8]),
    Parts(Vec<&'a [Vec<u8>]>),
}

/// Computes the reductions of nodes.
pub trait Reduce {
    /// Bytes of all reductions of a node, about.
    fn bytes(&self) -> usize;

    /// Computes, for each request, one reduction per function.
    ///
    /// # Errors
    /// If a function of the design document cannot be called.
    fn reduce(&self, requests: &[Request<'_>]) -> Result<Vec<Vec<Vec<u8>>>>;
}

/// The functions of a view.
pub struct Reducers<'a> {
    pub list: &'a [Reducer],
    pub scripts: &'a CallScripts<'a>,
}

impl Reduce for Reducers<'_> {
    fn bytes(&self) -> usize {
        let bytes = |reducer: &Reducer| match reducer {
            Reducer::Builtin(builtin) => builtin.bytes(),
            Reducer::Script(_) => 32,
        };
        self.list.iter().map(bytes).sum()
    }

    fn reduce(&self, requests: &[Request<'_>]) -> Result<Vec<Vec<Vec<u8>>>> {
        let mut reductions = vec![vec![Vec::new(); self.list.len()]; requests.len()];
        // The calls of scripts, with the places of their results.
        let (mut calls, mut places) = (Vec::new(), Vec::new());
        for (number, request) in requests.iter().enumerate() {
            if self.list.is_empty() {
                break;
            }
            let rows = match request {
                Request::Rows(leaf) => rows(leaf)?,
                Request::Parts(_) => Vec::new(),
            };
            for (at, reducer) in self.list.iter().enumerate() {
                let parts: Vec<&[u8]> = match request {
                    Request::Rows(_) => Vec::new(),
                    Request::Parts(parts) => parts
                        .iter()
                        .filter_map(|part| part.get(at))
                        .map(Vec::as_slice)
                        .collect(),
                };
                let is_rereduce = matches!(request, Request::Parts(_));
                match reducer {
                    Reducer::Builtin(builtin) => {
                        reductions[number][at] = match is_rereduce {
                            true => builtin.rereduce(&parts),
                            false => builtin.reduce(&rows),
                        };
                    }
                    Reducer::Script(function) => {
                        match is_rereduce {
                            true => calls.push(rereduce_call(*function, &parts)?),
                            false => calls.push(reduce_call(*function, &rows)),
                        }
                        places.push((number, at));
                    }
                }
            }
        }
        let results = call(self.scripts, &calls)?;
        for ((number, at), result) in places.into_iter().zip(results) {
            reductions[number][at] = result.into_bytes();
        }
        Ok(reductions)
    }
}

/// Makes calls, but for those whose result is already known.
pub fn call(scripts: &CallScripts<'_>, calls: &[ScriptCall]) -> Result<Vec<String>> {
    let open: Vec<ScriptCall> = calls
        .iter()
        .filter(|call| overflow(call).is_none())
        .cloned()
        .collect();
    let mut results = match open.is_empty() {
        true => Vec::new(),
        false => scripts(&open)?,
    }
    .into_iter();
    let missing = || Error::Internal("a reduce function has no result".to_owned());
    let result = |call: &ScriptCall| match overflow(call) {
        Some(known) => Ok(known),
        None => results.next().ok_or_else(missing),
    };
    calls.iter().map(result).collect()
}

/// A reduction that says that a reduction became too large.
const OVERFLOW: &str = "{\"reduce_overflow_error\":";

/// The reason in a reduction that became too large; none in any other.
pub fn overflow_reason(reduction: &str) -> Option<&str> {
    let reason = reduction.strip_prefix(OVERFLOW)?;
    reason.strip_suffix('}')
}

/// Returns the first such reduction among those that are to be reduced: it is the result.
fn overflow(call: &ScriptCall) -> Option<String> {
    if !call.is_rereduce || !call.values.contains(OVERFLOW) {
        return None;
    }
    let parts: Vec<&serde_json::value::RawValue> = serde_json::from_str(&call.values).ok()?;
    let found = parts
        .into_iter()
        .find(|part| part.get().starts_with(OVERFLOW));
    found.map(|part| part.get().to_owned())
}

/// The call that reduces rows.
pub fn reduce_call(function: usize, rows: &[Row<'_>]) -> ScriptCall {
    let mut values = String::from("[");
    for (at, row) in rows.iter().enumerate() {
        if at > 0 {
            values.push(',');
        }
        values.push_str("[[");
        values.push_str(row.key);
        values.push(',');
        values.push_str(&serde_json::Value::from(row.id).to_string());
        values.push_str("],");
        values.push_str(row.value);
        values.push(']');
    }
    values.push(']');
    ScriptCall {
        function,
        is_rereduce: false,
        values,
    }
}

/// The call that reduces reductions.
pub fn rereduce_call(function: usize, parts: &[&[u8]]) -> Result<ScriptCall> {
    let mut values = b"[".to_vec();
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            values.push(b',');
        }
        values.extend_from_slice(part);
    }
    values.push(b']');
    let values = String::from_utf8(values).map_err(|_| super::node::Corrupt)?;
    Ok(ScriptCall {
        function,
        is_rereduce: true,
        values,
    })
}

fn rows(leaf: &[u8]) -> Result<Vec<Row<'_>>> {
    let mut rows = Vec::new();
    for entry in entries(leaf)? {
        let id = entry.id()?;
        for row in entry.rows() {
            let Emitted { key, value } = row?;
            rows.push(Row { key, id, value });
        }
    }
    Ok(rows)
}
