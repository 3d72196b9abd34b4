//! Explains how a Mango query would be answered.

use super::{Result, indexes};
use crate::mango::{Chosen, FindQuery, Plan, candidates, hints};
use rusqlite::Connection;
use serde_json::{Value, json};

/// The plan of a query in the format of `_explain`.
pub type Explanation = Value;

/// Explains a query.
pub fn explain(
    connection: &Connection,
    database: &str,
    is_partitioned: bool,
    query: &FindQuery,
) -> Result<Explanation> {
    let plan = Plan::new(query, indexes::indexes(connection, is_partitioned)?)?;
    if let Some(refused) = plan.refused {
        return Err(refused.into());
    }
    let index = plan.chosen.as_ref().map(|chosen| chosen.index.to_json());
    let mut explanation = json!({
        "dbname": database,
        "index": index,
        "partitioned": is_partitioned,
        "selector": query.selector.to_json(),
        "opts": query.options_to_json(),
        "limit": query.limit,
        "skip": query.skip,
        "fields": query.fields_to_json(),
        "index_candidates": candidates(&plan, query),
        "selector_hints": hints(&query.selector),
    });
    if let Some(chosen) = &plan.chosen {
        explanation["mrargs"] = view_arguments(chosen, query);
        explanation["covering"] = chosen.is_covering.into();
    }
    Ok(explanation)
}

/// The arguments with which CouchDB would read a view.
fn view_arguments(chosen: &Chosen, query: &FindQuery) -> Value {
    let (mut start, mut end) = chosen.keys_to_json();
    if query.sort.descending {
        std::mem::swap(&mut start, &mut end);
    }
    json!({
        "include_docs": query.copies == 1 && !chosen.is_covering,
        "view_type": "map",
        "reduce": false,
        "partition": query.partition,
        "start_key": start,
        "end_key": end,
        "direction": if query.sort.descending { "rev" } else { "fwd" },
        "stable": query.stable || query.is_stale_ok,
        "update": query.update && !query.is_stale_ok,
        "conflicts": match query.conflicts {
            true => json!(true),
            false => json!("undefined"),
        },
    })
}
