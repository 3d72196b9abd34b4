//! What several rules ask: whether a column can get another type, and what stands in the way.

use super::{ColumnName, Facts};
use crate::server::model::{Column, ForeignKey, Table, TableKind};

/// The columns of a foreign key, each with the one it refers to.
pub(super) fn pairs(key: &ForeignKey) -> impl Iterator<Item = (&str, &str)> {
    let parents = key.parent_columns.iter().map(String::as_str);
    key.columns.iter().map(String::as_str).zip(parents)
}

/// Tells whether a definition names a column. A word in a string counts too.
fn mentions(definition: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    let is_plain = name.chars().all(is_part);
    if !is_plain {
        return definition.contains(name);
    }
    let mut words = definition.split(|letter: char| !is_part(letter));
    words.any(|word| word.eq_ignore_ascii_case(name))
}

/// Why a column can't be converted by the printed steps.
pub(super) fn blocker(facts: &Facts<'_>, of: &ColumnName, group: &[ColumnName]) -> Option<String> {
    let table = facts.database.table(&of.schema, &of.table)?;
    let column = table.column(&of.column)?;
    let name = format!("{}.{}", of.table, of.column);
    if !matches!(table.kind, TableKind::Ordinary | TableKind::CatalogOnly) {
        return Some(format!("{} is partitioned or a view", table.name));
    }
    let hinders = |words: &&String| {
        words.starts_with("takes part")
            || words.ends_with("partitioned")
            || words.ends_with("versioned")
    };
    if let Some(words) = table.particulars.iter().find(hinders) {
        return Some(format!("{} {words}", table.name));
    }
    if column.generated.is_some() || column.type_name.ends_with(']') {
        return Some(format!("{name} is generated"));
    }
    if column.is_domain {
        return Some(format!("{name} is of the domain {}", column.type_name));
    }
    if let Some(dependent) = column.dependents.first() {
        return Some(format!("{dependent} depends on {name}"));
    }
    by_text(table, column, &name)
        .or_else(|| by_index(table, column, &name))
        .or_else(|| by_key(facts, table, column, group, &name))
}

/// Definitions that name the column.
fn by_text(table: &Table, column: &Column, name: &str) -> Option<String> {
    if let Some(check) = table
        .checks
        .iter()
        .find(|check| mentions(&check.definition, &column.name))
    {
        return Some(format!("the constraint {} is about {name}", check.name));
    }
    if let Some(view) = table
        .views
        .iter()
        .find(|view| view.definition.is_empty() || mentions(&view.definition, &column.name))
    {
        return Some(format!("the view {} shows {name}", view.name));
    }
    let others = table
        .columns
        .iter()
        .filter_map(|other| Some((&other.name, other.generated.as_ref()?)));
    for (other, expression) in others {
        if mentions(expression, &column.name) {
            return Some(format!("the generated column {other} uses {name}"));
        }
    }
    let trigger = table.triggers.first()?;
    Some(format!(
        "the trigger {} of {} may use it",
        trigger.name, table.name
    ))
}

/// Indexes that a new column can't have in the same way.
fn by_index(table: &Table, column: &Column, name: &str) -> Option<String> {
    for index in &table.indexes {
        let term = index
            .terms
            .iter()
            .find(|term| term.column.as_ref() == Some(&column.name));
        let texts = index
            .terms
            .iter()
            .filter_map(|term| term.expression.as_ref())
            .chain(&index.predicate);
        let mut texts = texts.filter(|text| mentions(text, &column.name));
        if texts.next().is_some() {
            return Some(format!("an expression of {} uses {name}", index.name));
        }
        let is_held = term.is_some() || index.include.contains(&column.name);
        if !is_held {
            continue;
        }
        let reason = match term {
            Some(term) if !term.is_default_class => "has an operator class of texts",
            Some(term) if term.prefix.is_some() => "holds a part of it",
            _ if !matches!(index.method.as_str(), "btree" | "hash") => "is no B-tree",
            _ if index.is_replica_identity => "is the replica identity",
            _ if index.is_cluster_order => "orders the table (CLUSTER)",
            _ if index
                .constraint
                .as_ref()
                .is_some_and(|own| own.is_deferrable) =>
            {
                "is deferrable"
            }
            _ if !index.is_valid => "is invalid",
            _ => continue,
        };
        return Some(format!("the index {} over {name} {reason}", index.name));
    }
    by_included(table, column, name)
}

/// Foreign keys that refer to other columns by an index that includes this one. They would depend on the old index until
/// the end.
fn by_included(table: &Table, column: &Column, name: &str) -> Option<String> {
    let mut including = table
        .indexes
        .iter()
        .filter(|index| index.include.contains(&column.name));
    including.find_map(|index| {
        let mut keys = table.referenced_by.iter();
        let key = keys.find(|key| key.parent_index.as_ref() == Some(&index.name))?;
        Some(format!(
            "the foreign key {} of {} depends on the index {}, which includes {name}",
            key.name, key.child, index.name
        ))
    })
}

/// Foreign keys whose other side isn't converted with it.
fn by_key(
    facts: &Facts<'_>,
    table: &Table,
    column: &Column,
    group: &[ColumnName],
    name: &str,
) -> Option<String> {
    let has = |schema: &str, table: &str, column: &str| {
        group.iter().any(|ids| {
            (ids.schema.as_str(), ids.table.as_str(), ids.column.as_str())
                == (schema, table, column)
        })
    };
    for key in &table.foreign_keys {
        for (own, parent) in pairs(key) {
            if own == column.name && !has(&key.parent_schema, &key.parent, parent) {
                return Some(format!(
                    "{name} refers to {}.{parent}, which can't be converted",
                    key.parent
                ));
            }
        }
    }
    for key in &table.referenced_by {
        for (child, own) in pairs(key) {
            if own == column.name && !has(&key.child_schema, &key.child, child) {
                let rows = facts.database.table(&key.child_schema, &key.child);
                let is_empty = rows.is_some_and(|table| table.rows == 0);
                let why = if is_empty {
                    "is empty or NULL: its ids aren't known"
                } else {
                    "can't be converted"
                };
                return Some(format!("{}.{child} refers to {name} and {why}", key.child));
            }
        }
    }
    None
}
