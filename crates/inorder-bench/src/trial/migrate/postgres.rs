//! The way in PostgreSQL: indexes CONCURRENTLY, constraints NOT VALID before they are validated, and one short transaction that
//! switches.
//!
//! Statements that lock more than one table lock the parent first, as an application that inserts into it does: otherwise
//! both could wait for each other.

use super::steps::{Moved, Particulars, Phase, Step, Successor, Way};
use crate::error::Error;

pub const PARTICULARS: Particulars = Particulars {
    engine: "postgres",
    phases,
    lock_wait: Some("SET lock_timeout = '60s'"),
    begins_each: false,
    is_stored_by_key: false,
};

fn phases(way: &Way<'_>) -> Result<Vec<Phase>, Error> {
    let phase = |name, steps| Phase { name, steps };
    let expand = way.moved.iter().map(|moved| {
        let (table, next) = (way.quoted(&moved.table.name), way.quoted(&moved.next));
        format!("ALTER TABLE {table} ADD COLUMN {next} {}", way.new_type)
    });
    let drop = way.moved.iter().map(|moved| {
        let (table, old) = (way.quoted(&moved.table.name), way.quoted(&moved.old));
        format!("ALTER TABLE {table} DROP COLUMN {old}")
    });
    Ok(vec![
        phase(
            "expand",
            vec![Step::Each(expand.collect()), Step::WriteBoth],
        ),
        phase("backfill", vec![Step::Backfill]),
        phase("index", vec![Step::Each(indexes(way))]),
        phase("constraints", constraints(way)),
        phase("switch", vec![Step::Together(switch(way)?), Step::WriteNew]),
        phase("drop", vec![Step::Each(drop.collect())]),
    ])
}

fn indexes(way: &Way<'_>) -> Vec<String> {
    let create = |moved: &Moved, index: Successor| {
        format!(
            "CREATE {}INDEX CONCURRENTLY {} ON {} ({})",
            if index.is_unique { "UNIQUE " } else { "" },
            way.quoted(&index.name),
            way.quoted(&moved.table.name),
            way.list(&index.columns)
        )
    };
    let of = |moved| {
        let indexes = Moved::new_key(moved).into_iter();
        let indexes = indexes.chain(Moved::new_indexes(moved));
        indexes
            .map(|index| create(moved, index))
            .collect::<Vec<_>>()
    };
    way.moved.iter().flat_map(of).collect()
}

/// The name of the constraint that says that the new column has no NULL: SET NOT NULL does not read the table again.
fn present(way: &Way<'_>, moved: &Moved) -> String {
    way.quoted(&format!("{}_{}", moved.table.name, moved.next))
}

fn constraints(way: &Way<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    for moved in way.moved.iter().filter(|moved| moved.is_not_null()) {
        let (table, next) = (way.quoted(&moved.table.name), way.quoted(&moved.next));
        let name = present(way, moved);
        steps.push(Step::Each(vec![
            format!(
                "ALTER TABLE {table} ADD CONSTRAINT {name} CHECK ({next} IS NOT NULL) NOT VALID"
            ),
            format!("ALTER TABLE {table} VALIDATE CONSTRAINT {name}"),
        ]));
    }
    for child in way.children() {
        let table = way.quoted(&child.table.name);
        for (key, parent) in way.links(child) {
            let parent_name = way.quoted(&parent.table.name);
            let new = way.new_link(child, (key, parent));
            steps.push(Step::Together(vec![
                format!("LOCK TABLE {parent_name} IN SHARE ROW EXCLUSIVE MODE"),
                format!("ALTER TABLE {table} ADD CONSTRAINT {new} NOT VALID"),
            ]));
            let name = way.quoted(&format!("{}_next", key.name));
            steps.push(Step::Each(vec![format!(
                "ALTER TABLE {table} VALIDATE CONSTRAINT {name}"
            )]));
        }
    }
    steps
}

fn switch(way: &Way<'_>) -> Result<Vec<String>, Error> {
    let names: Vec<String> = way.moved.iter().map(|m| m.table.name.clone()).collect();
    let lock = format!("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE", way.list(&names));
    let mut statements = vec![lock];
    for child in way.children() {
        let table = way.quoted(&child.table.name);
        for (key, _) in way.links(child) {
            let name = way.quoted(&key.name);
            statements.push(format!("ALTER TABLE {table} DROP CONSTRAINT {name}"));
        }
    }
    for moved in &way.moved {
        let table = way.quoted(&moved.table.name);
        let mut changes = Vec::new();
        if let Some(key) = moved.new_key() {
            let old = key_name(way, &moved.table.name)?;
            changes.push(format!("DROP CONSTRAINT {old}"));
            changes.push(format!(
                "ADD CONSTRAINT {old} PRIMARY KEY USING INDEX {}",
                way.quoted(&key.name)
            ));
        }
        if moved.is_not_null() {
            let next = format!("ALTER COLUMN {} SET NOT NULL", way.quoted(&moved.next));
            statements.push(format!("ALTER TABLE {table} {next}"));
            changes.push(format!("DROP CONSTRAINT {}", present(way, moved)));
        }
        statements.extend(
            changes
                .into_iter()
                .map(|change| format!("ALTER TABLE {table} {change}")),
        );
        // Rows that are written with the new key alone have none of the old one.
        let old = way.quoted(&moved.old);
        statements.push(format!(
            "ALTER TABLE {table} ALTER COLUMN {old} DROP NOT NULL"
        ));
    }
    Ok(statements)
}

/// The name of a table's primary key.
fn key_name(way: &Way<'_>, table: &str) -> Result<String, Error> {
    let literal = way.quoted(table).replace('\'', "''");
    let rows = way.database.select(&format!(
        "SELECT conname FROM pg_constraint WHERE conrelid = '{literal}'::regclass AND contype = 'p'"
    ))?;
    let name = rows.into_iter().flatten().flatten().next();
    let name = name.ok_or_else(|| Error::Trial(format!("`{table}` has no primary key")))?;
    Ok(way.quoted(&name))
}
