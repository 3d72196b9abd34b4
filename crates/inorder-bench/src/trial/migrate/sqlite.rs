//! The way in SQLite: the tables are made anew in one transaction, which blocks other writers: SQLite changes no primary key of a
//! table (<https://www.sqlite.org/lang_altertable.html#otheralter>).

use super::steps::{Particulars, Phase, Step, Way};
use crate::experiment::filled;
use crate::schema::{Shape, Type, create};
use inorder_copy::model::Table;
use std::collections::BTreeSet;

pub const PARTICULARS: Particulars = Particulars {
    engine: "sqlite",
    phases: |way| Ok(phases(way)),
    lock_wait: None,
    begins_each: true,
    is_stored_by_key: false,
};

fn phases(way: &Way<'_>) -> Vec<Phase> {
    let expand = way.moved.iter().map(|moved| {
        let (table, next) = (way.quoted(&moved.table.name), way.quoted(&moved.next));
        format!("ALTER TABLE {table} ADD COLUMN {next} {}", way.new_type)
    });
    let phase = |name, steps| Phase { name, steps };
    vec![
        phase(
            "expand",
            vec![Step::Each(expand.collect()), Step::WriteBoth],
        ),
        phase("backfill", vec![Step::Backfill]),
        phase("switch", vec![Step::Together(switch(way)), Step::WriteNew]),
    ]
}

/// The tables that are made anew: those that have the key and those that refer to them, parents first.
fn remade<'a>(way: &'a Way<'_>) -> Vec<&'a Table> {
    let mut names: BTreeSet<&str> = way.moved.iter().map(|m| m.table.name.as_str()).collect();
    loop {
        let refers = |table: &&Table| {
            let mut parents = table.foreign_keys.iter().map(|key| key.parent.as_str());
            !names.contains(table.name.as_str()) && parents.any(|parent| names.contains(parent))
        };
        let Some(table) = way.all.iter().find(refers) else {
            break;
        };
        names.insert(&table.name);
    }
    let mut ordered: Vec<&Table> = Vec::new();
    while ordered.len() < names.len() {
        let is_placed = |name: &str| ordered.iter().any(|table| table.name == name);
        let is_next = |table: &&&Table| {
            let parents = table.foreign_keys.iter().map(|key| key.parent.as_str());
            let mut parents = parents.filter(|&parent| names.contains(parent));
            !is_placed(&table.name)
                && parents.all(|parent| parent == table.name || is_placed(parent))
        };
        let all: Vec<&Table> = way
            .all
            .iter()
            .filter(|table| names.contains(table.name.as_str()))
            .collect();
        // A cycle of references is broken anywhere.
        let next = all.iter().find(is_next).copied();
        let next = next.or_else(|| all.into_iter().find(|table| !is_placed(&table.name)));
        match next {
            Some(table) => ordered.push(table),
            None => break,
        }
    }
    ordered
}

/// A table with the new key.
fn renewed(way: &Way<'_>, table: &Table) -> Table {
    let mut new = table.clone();
    if let Some(moved) = way.moved.iter().find(|m| m.table.name == table.name) {
        for column in new.columns.iter_mut().filter(|c| c.name == moved.old) {
            column.name.clone_from(&moved.next);
        }
        new.key = moved.renewed(&new.key);
        for index in &mut new.indexes {
            index.columns = moved.renewed(&index.columns);
        }
        for key in &mut new.foreign_keys {
            key.columns = moved.renewed(&key.columns);
        }
    }
    for key in &mut new.foreign_keys {
        if let Some(parent) = way.moved.iter().find(|m| m.table.name == key.parent) {
            key.parent_columns = parent.renewed(&key.parent_columns);
        }
    }
    new
}

fn switch(way: &Way<'_>) -> Vec<String> {
    let tables = remade(way);
    let old_name = |table: &Table| way.quoted(&format!("{}_old", table.name));
    let mut statements = Vec::new();
    for table in &tables {
        let drop =
            |index: &inorder_copy::model::Index| format!("DROP INDEX {}", way.quoted(&index.name));
        statements.extend(table.indexes.iter().map(drop));
        let (name, old) = (way.quoted(&table.name), old_name(table));
        statements.push(format!("ALTER TABLE {name} RENAME TO {old}"));
    }
    let mut indexes = Vec::new();
    for table in &tables {
        let new = renewed(way, table);
        let (sql, of_table) = definition(way, &new);
        statements.push(sql);
        indexes.extend(of_table);
        let columns: Vec<String> = new.columns.iter().map(|c| c.name.clone()).collect();
        let order = match new.key.is_empty() {
            true => String::new(),
            false => format!(" ORDER BY {}", way.list(&new.key)),
        };
        let list = way.list(&columns);
        statements.push(format!(
            "INSERT INTO {} ({list}) SELECT {list} FROM {}{order}",
            way.quoted(&table.name),
            old_name(table)
        ));
    }
    let drops = tables.iter().rev();
    statements.extend(drops.map(|table| format!("DROP TABLE {}", old_name(table))));
    statements.extend(indexes);
    statements
}

/// CREATE TABLE and the CREATE INDEX statements.
fn definition(way: &Way<'_>, table: &Table) -> (String, Vec<String>) {
    let moved = way.moved.iter().find(|m| m.table.name == table.name);
    let shape = Shape {
        from: "sqlite",
        types: (moved.iter())
            .map(|moved| (moved.next.as_str(), Type::Key))
            .collect(),
        links: table.foreign_keys.iter().collect(),
        not_unique: Vec::new(),
    };
    let key_type = |name: &str| (name == "key").then(|| way.new_type.to_owned());
    let sql = create(table, "sqlite", &shape);
    let sql = filled(&sql, key_type).expect("no other placeholder");
    let mut statements = sql.split(";\n").map(str::to_owned);
    (statements.next().unwrap_or_default(), statements.collect())
}
