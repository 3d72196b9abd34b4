//! Advice as JSON: every figure, and the steps.

use super::{scripts, words};
use crate::{report::Look, server::advice::Advice};
use serde_json::json;
use std::collections::BTreeMap;

pub(super) fn write(advice: &Advice, _look: Look) -> String {
    let scripts: BTreeMap<_, _> = scripts(advice)
        .into_iter()
        .map(|script| (script.suffix, script.text))
        .collect();
    let value = json!({
        "alerts": words::alerts(advice),
        "read_at_s": advice.read_at_s,
        "counters": advice.counters,
        "url": advice.url,
        "bytes": advice.base_bytes(),
        "saved_bytes": advice.saved_bytes(),
        "rows_read": advice.rows_read,
        "sizes_are_stale": advice.sizes_are_stale,
        "unpredicted": advice.unpredicted,
        "ids": advice.ids,
        "advice": advice.items,
        "plans": advice.plans,
        "scripts": scripts,
        "database": advice.database,
    });
    format!("{value:#}\n")
}
