//! Explains how a Mango query would be answered.

use super::{Result, indexes};
use crate::mango::{FindQuery, Index, Plan, why_not};
use rusqlite::Connection;
use serde_json::{Value, json};

/// The plan of a query in the format of `_explain`.
pub type Explanation = Value;

/// Explains a query.
pub fn explain(connection: &Connection, database: &str, query: &FindQuery) -> Result<Explanation> {
    let indexes = indexes::indexes(connection)?;
    let plan = Plan::new(query, indexes.clone())?;
    let (start, end) = plan.range.to_json();
    let direction = if query.sort.descending { "rev" } else { "fwd" };
    let is_chosen = |index: &Index| index.place == plan.index.place;
    let others = indexes.iter().filter(|index| !is_chosen(index));
    let candidates: Vec<Value> = others.map(|index| candidate(index, &plan, query)).collect();
    Ok(json!({
        "dbname": database,
        "index": plan.index.to_json(),
        "partitioned": false,
        "selector": query.selector.to_json(),
        "opts": query.options_to_json(),
        "limit": query.limit,
        "skip": query.skip,
        "fields": query.fields_to_json(),
        "index_candidates": candidates,
        "mrargs": {
            "include_docs": true,
            "view_type": "map",
            "reduce": false,
            "partition": null,
            "start_key": start,
            "end_key": end,
            "direction": direction,
            "stable": false,
            "update": true,
            "conflicts": query.conflicts,
        },
        "covering": false,
    }))
}

/// An index that was not chosen, and why.
fn candidate(index: &Index, plan: &Plan, query: &FindQuery) -> Value {
    let (is_usable, reason) = why_not(index, &plan.index, query);
    json!({
        "index": index.to_json(),
        "analysis": {
            "usable": is_usable,
            "reasons": [{ "name": reason }],
            "covering": false,
        },
    })
}
