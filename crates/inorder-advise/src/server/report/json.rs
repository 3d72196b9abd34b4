//! Advice as JSON: every figure, and the steps.

use super::words;
use crate::{report::Look, server::advice::Advice};
use serde_json::json;

pub(super) fn write(advice: &Advice, _look: Look) -> String {
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
        "database": advice.database,
    });
    format!("{value:#}\n")
}
