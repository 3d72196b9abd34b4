//! The statements that create a table in an engine, with `{key}` where the key in question is stored.

use super::class::{Class, class, type_in};
use inorder_copy::model::{Column, ForeignKey, Table};
use std::collections::{BTreeMap, BTreeSet};

/// What the statements of a table depend on besides its catalog.
pub struct Shape<'a> {
    /// The engine whose catalog describes the table.
    pub from: &'a str,
    /// Columns with a key in question.
    pub keys: BTreeSet<&'a str>,
    /// Types that the recipe of a column needs.
    pub types: BTreeMap<&'a str, String>,
    /// Classes of columns that refer to a column of another table, which is that one's.
    pub classes: BTreeMap<&'a str, Class>,
    /// The foreign keys that are kept.
    pub links: Vec<&'a ForeignKey>,
    /// Columns of unique keys that are not kept.
    pub not_unique: Vec<&'a [String]>,
}

/// Returns CREATE TABLE and the CREATE INDEX statements.
pub fn create(table: &Table, engine: &str, shape: &Shape<'_>) -> String {
    let quoted = |name: &str| match engine {
        "mariadb" => format!("`{}`", name.replace('`', "``")),
        _ => format!("\"{}\"", name.replace('"', "\"\"")),
    };
    let list = |names: &[String]| {
        names
            .iter()
            .map(|name| quoted(name))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut lines: Vec<String> = Vec::new();
    for column in &table.columns {
        let ty = type_of(table, column, engine, shape);
        let not_null = match column.is_not_null || table.key.contains(&column.name) {
            true => " NOT NULL",
            false => "",
        };
        let space = if ty.is_empty() { "" } else { " " };
        lines.push(format!("  {}{space}{ty}{not_null}", quoted(&column.name)));
    }
    let is_unique = |columns: &[String]| !shape.not_unique.contains(&columns);
    let has_key = !table.key.is_empty() && is_unique(&table.key);
    if has_key {
        lines.push(format!("  PRIMARY KEY ({})", list(&table.key)));
    }
    for key in &shape.links {
        lines.push(format!(
            "  FOREIGN KEY ({}) REFERENCES {} ({})",
            list(&key.columns),
            quoted(&key.parent),
            list(&key.parent_columns)
        ));
    }
    let without_rowid = match engine == "sqlite" && table.is_without_rowid && has_key {
        true => " WITHOUT ROWID",
        false => "",
    };
    let mut sql = format!(
        "CREATE TABLE {} (\n{}\n){without_rowid}",
        quoted(&table.name),
        lines.join(",\n")
    );
    for index in &table.indexes {
        let unique = match index.is_unique && is_unique(&index.columns) {
            true => "UNIQUE ",
            false => "",
        };
        sql += &format!(
            ";\nCREATE {unique}INDEX {} ON {} ({})",
            quoted(&index.name),
            quoted(&table.name),
            list(&index.columns)
        );
    }
    sql
}

fn type_of(table: &Table, column: &Column, engine: &str, shape: &Shape<'_>) -> String {
    let name = column.name.as_str();
    if shape.keys.contains(name) {
        return "{key}".to_owned();
    }
    if let Some(ty) = shape.types.get(name) {
        return ty.clone();
    }
    if engine == shape.from {
        return match engine {
            "postgres" => column.postgres.clone(),
            _ => column.declared.clone(),
        };
    }
    if let Some(class) = shape.classes.get(name) {
        return type_in(engine, *class, true);
    }
    let is_indexed = table.key.iter().any(|key| key == name)
        || table
            .indexes
            .iter()
            .any(|index| index.columns.iter().any(|c| c == name));
    type_in(engine, class(shape.from, column), is_indexed)
}
