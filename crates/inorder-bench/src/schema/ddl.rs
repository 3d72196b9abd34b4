//! The statements that create a table in an engine, with `{key}` where the key in question is stored and braces of names
//! doubled.

use super::{
    class::{Class, class, type_in},
    limits::limits,
};
use crate::experiment::literally;
use inorder_copy::model::{Column, ForeignKey, Table};
use std::collections::BTreeMap;

/// A type in place of a column's own.
#[derive(Clone, Copy, Debug)]
pub enum Type<'a> {
    /// That of the key in question.
    Key,
    /// Text, because no recipe makes values of its own.
    Text,
    /// That of the column whose values it has by foreign keys.
    Of(&'a Column),
}

/// What the statements of a table depend on besides its catalog.
pub struct Shape<'a> {
    /// The engine whose catalog describes the table.
    pub from: &'a str,
    /// Columns with another type.
    pub types: BTreeMap<&'a str, Type<'a>>,
    /// The foreign keys that are kept.
    pub links: Vec<&'a ForeignKey>,
    /// Columns of unique keys that are not kept.
    pub not_unique: Vec<&'a [String]>,
}

/// Returns CREATE TABLE and the CREATE INDEX statements.
pub fn create(table: &Table, engine: &str, shape: &Shape<'_>) -> String {
    let quoted = |name: &str| {
        let name = literally(name);
        match engine {
            "mariadb" => format!("`{}`", name.replace('`', "``")),
            _ => format!("\"{}\"", name.replace('"', "\"\"")),
        }
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

/// Whether an engine refuses values of another column in a column of its own type.
pub fn is_narrower(engine: &str, column: &Column, other: &Column) -> bool {
    let (own, of_other) = (class(engine, column), class(engine, other));
    if engine == "sqlite" {
        // The rowid takes integers only, other columns anything.
        return column.next.is_some() && !matches!(of_other, Class::Integer(_));
    }
    let is_limited = limits(engine, &column.declared) != limits(engine, &other.declared);
    is_limited
        || match (own, of_other) {
            (Class::Integer(own), Class::Integer(other)) => own < other,
            (Class::Text(own), Class::Text(other)) => {
                own.is_some_and(|own| other.is_none_or(|other| own < other))
            }
            _ => own != of_other,
        }
}

fn type_of(table: &Table, column: &Column, engine: &str, shape: &Shape<'_>) -> String {
    let name = column.name.as_str();
    let own = match engine {
        "postgres" => |column: &Column| literally(&column.postgres),
        _ => |column: &Column| literally(&column.declared),
    };
    let is_own = engine == shape.from;
    let is_in = |columns: &[String]| columns.iter().any(|column| column == name);
    let mut indexes = table.indexes.iter();
    let is_indexed = is_in(&table.key) || indexes.any(|index| is_in(&index.columns));
    let is_link = shape.links.iter().any(|key| is_in(&key.columns));
    match shape.types.get(name) {
        Some(Type::Key) => "{key}".to_owned(),
        Some(Type::Text) if engine == "mariadb" && (is_indexed || is_link) => {
            type_in(engine, Class::Text(None), true)
        }
        Some(Type::Text) => "{text}".to_owned(),
        Some(Type::Of(other)) if is_own && is_narrower(engine, column, other) => own(other),
        Some(Type::Of(other)) if !is_own => type_in(engine, class(shape.from, other), true),
        _ if is_own => own(column),
        _ => type_in(engine, class(shape.from, column), is_indexed),
    }
}
