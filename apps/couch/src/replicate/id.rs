//! Replication ids, computed as CouchDB computes them (version 4): checkpoints made by one are found by the other.

use super::filter::Selection;
use super::request::Replication;
use crate::auth::hex;
use crate::revision::Term;
use md5::{Digest, Md5};
use serde_json::{Map, Value};

/// The version byte of Erlang's external term format.
const TERM_VERSION: u8 = 131;

/// The depth of a selector or of query parameters.
const DEPTH_MAX: usize = 1000;

/// The id of a replication's checkpoints; `uuid` is the server's, `code` that of the filter function.
pub fn checkpoint_id(uuid: &str, replication: &Replication, code: Option<&str>) -> String {
    let user = replication.user.name.as_deref();
    let mut parts = vec![
        Term::binary(uuid),
        replication.source.term(user),
        replication.target.term(user),
    ];
    match &replication.selection {
        Selection::All => {}
        Selection::Builtin(name) => {
            parts.extend([Term::binary(name), json(&params(replication))]);
        }
        Selection::Function { .. } => {
            parts.extend([
                Term::binary(&trimmed(code.unwrap_or_default())),
                json(&params(replication)),
            ]);
        }
        Selection::DocIds(ids) => {
            let ids: Vec<Term> = ids.iter().map(|id| Term::binary(id)).collect();
            parts.push(Term::list(&ids));
        }
        Selection::Selector { normal, .. } => parts.push(json(&sorted(normal))),
    }
    if replication.winning_revs_only {
        parts.push(Term::binary("winning_revs_only"));
    }
    let mut hash = Md5::new();
    hash.update([TERM_VERSION]);
    hash.update(Term::list(&parts).as_bytes());
    hex(&hash.finalize())
}

/// The id of a job: that of its checkpoints with some of its options.
pub fn job_id(checkpoint_id: &str, replication: &Replication) -> String {
    let mut id = checkpoint_id.to_owned();
    for (is_set, name) in [
        (replication.continuous, "+continuous"),
        (replication.create_target, "+create_target"),
    ] {
        if is_set {
            id += name;
        }
    }
    id
}

fn params(replication: &Replication) -> Value {
    Value::Object(replication.query_params.clone())
}

fn json(value: &Value) -> Term {
    // The value was parsed from JSON: it has a term unless it is nested too deeply.
    Term::from_json(&value.to_string(), DEPTH_MAX).unwrap_or_else(|_| Term::empty_object())
}

/// A value with the members of all objects in the order of their names.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            let member = |(name, value): (&String, &Value)| (name.clone(), sorted(value));
            Value::Object(members.into_iter().map(member).collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// The code without the spaces around it, if it is one line. The line may have an end, which is kept.
fn trimmed(code: &str) -> String {
    let line = code.strip_suffix('\n').unwrap_or(code);
    match line.contains('\n') {
        true => code.to_owned(),
        false => line.trim_matches(' ').to_owned() + &code[line.len()..],
    }
}
