//! Selectors in normal form, as JSON.

use super::node::{Condition, Node};
use serde_json::{Value, json};

/// A selector.
pub fn node(node: &Node) -> Value {
    let list = |parts: &[Node]| parts.iter().map(self::node).collect::<Vec<_>>();
    match node {
        Node::Any => json!({}),
        Node::And(parts) => json!({ "$and": list(parts) }),
        Node::Or(parts) => json!({ "$or": list(parts) }),
        Node::Not(part) => json!({ "$not": self::node(part) }),
        // On an item itself.
        Node::Field(path, condition) if path.names().is_empty() => self::condition(condition),
        Node::Field(path, condition) => json!({ path.as_str(): self::condition(condition) }),
    }
}

fn condition(condition: &Condition) -> Value {
    match condition {
        Condition::Compare(comparison, argument) => json!({ comparison.name(): argument }),
        Condition::In(items) => json!({ "$in": items }),
        Condition::Nin(items) => json!({ "$nin": items }),
        Condition::Exists(exists) => json!({ "$exists": exists }),
        Condition::Type(name) => json!({ "$type": name }),
        Condition::Mod(divisor, remainder) => json!({ "$mod": [divisor, remainder] }),
        Condition::Regex(regex) => json!({ "$regex": regex.as_str() }),
        Condition::BeginsWith(start) => json!({ "$beginsWith": start }),
        Condition::All(items) => json!({ "$all": items }),
        Condition::Size(size) => json!({ "$size": size }),
        Condition::ElemMatch(part) => json!({ "$elemMatch": node(part) }),
        Condition::AllMatch(part) => json!({ "$allMatch": node(part) }),
        Condition::KeyMapMatch(part) => json!({ "$keyMapMatch": node(part) }),
        Condition::Not(part) => json!({ "$not": self::condition(part) }),
    }
}
