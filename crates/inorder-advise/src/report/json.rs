//! Advice as JSON: what `inorder rekey --plan` reads, and every figure.

use super::{Look, words};
use crate::{
    advice::{Advice, Together},
    read::{Index, Table},
};
use inorder_engine::Tree;
use serde_json::{Value, json};

pub(super) fn write(advice: &Advice, _look: Look) -> String {
    let database = &advice.database;
    let mut value = json!({
        "alerts": words::alerts(advice),
        "read_at_s": advice.read_at_s,
        "counters": database.counters,
        "file": advice.file,
        "estimate": advice.estimate,
        "sqlite_version": rusqlite::version(),
        "page_bytes": database.page_bytes,
        "vacuumed_bytes": advice.vacuumed_bytes,
        "is_damaged": advice.is_damaged,
        "program": advice.program().map(|program| program.name),
        "notes": advice.notes,
        "lost": advice.lost,
        "ids": advice.ids,
        "advice": advice.items,
        "plan": advice.together.as_ref().map(|together| &together.plan),
        "together": advice.together.as_ref().map(figures),
        "plan_with_minor": advice.with_minor.as_ref().map(|together| &together.plan),
        "with_minor": advice.with_minor.as_ref().map(figures),
        "plan_with_app": advice.with_app.as_ref().map(|together| &together.plan),
        "with_app": advice.with_app.as_ref().map(figures),
        "queries": advice.queries,
        "tables": database.tables.iter().map(table).collect::<Vec<_>>(),
    });
    if let (Some(_), Value::Object(members)) = (&advice.estimate, &mut value) {
        members.insert("is_estimate".into(), true.into());
        for name in OF_FIGURES {
            members.get_mut(name).into_iter().for_each(mark);
        }
    }
    format!("{value:#}\n")
}

/// What has figures that are estimates, if the advice is one.
const OF_FIGURES: [&str; 5] = ["advice", "together", "with_minor", "with_app", "tables"];
/// Names of figures.
const FIGURES: [&str; 6] = [
    "bytes",
    "saved_bytes",
    "percent",
    "written_bytes",
    "pages",
    "rows",
];

/// Marks each object with a figure as an estimate.
fn mark(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(mark),
        Value::Object(members) => {
            members.values_mut().for_each(mark);
            if FIGURES.iter().any(|name| members.contains_key(*name)) {
                members.insert("is_estimate".into(), true.into());
            }
        }
        _ => {}
    }
}

fn figures(together: &Together) -> Value {
    json!({ "bytes": together.bytes, "refused": together.refused, "trees": together.trees, "inserts": together.inserts })
}

fn table(table: &Table) -> Value {
    json!({
        "name": table.name,
        "kind": table.kind,
        "rows": table.rows,
        "tree": table.tree.as_ref().map(tree),
        "indexes": table.indexes.iter().map(index).collect::<Vec<_>>(),
    })
}

fn index(index: &Index) -> Value {
    json!({ "name": index.name, "unique": index.is_unique, "tree": index.tree.as_ref().map(tree) })
}

fn tree(tree: &Tree) -> Value {
    json!({
        "pages": tree.pages,
        "bytes": tree.size_bytes,
        "payload_bytes": tree.payload_bytes,
        "entries": tree.entries,
        "depth": tree.depth,
        "fill": tree.fill,
    })
}
