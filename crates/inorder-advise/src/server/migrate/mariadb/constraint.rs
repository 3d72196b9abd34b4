//! Constraints that others repeat.

use super::{Dialect, name, quote, text};
use crate::server::{
    migrate::{Context, Step, Steps},
    model::{ForeignKey, Table},
};

/// A foreign key as a statement declares it.
pub(super) fn declared(key: &ForeignKey) -> String {
    let list = |names: &[String]| {
        let names: Vec<String> = names.iter().map(|name| quote(name)).collect();
        names.join(", ")
    };
    format!(
        "CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {}.{} ({}) ON DELETE {} ON UPDATE {}",
        quote(&key.name),
        list(&key.columns),
        quote(&key.parent_schema),
        quote(&key.parent),
        list(&key.parent_columns),
        key.on_delete,
        key.on_update
    )
}

/// What drops a constraint and what adds it again, and the constraints that say the same.
fn declarations<'t>(
    table: &'t Table,
    constraint: &str,
) -> Result<(String, String, Vec<&'t str>), String> {
    let key = table.foreign_keys.iter().find(|own| own.name == constraint);
    let check = table.checks.iter().find(|own| own.name == constraint);
    let named = quote(constraint);
    Ok(match (key, check) {
        (Some(key), _) => {
            let mut others = key.clone();
            let twins = table.foreign_keys.iter().filter(|own| {
                others.name.clone_from(&own.name);
                own.name != key.name && **own == others
            });
            (
                format!("FOREIGN KEY {named}"),
                declared(key),
                twins.map(|own| own.name.as_str()).collect(),
            )
        }
        (_, Some(check)) => {
            let twins = table
                .checks
                .iter()
                .filter(|own| own.name != check.name && own.definition == check.definition);
            (
                format!("CONSTRAINT {named}"),
                format!("CONSTRAINT {named} CHECK ({})", check.definition),
                twins.map(|own| own.name.as_str()).collect(),
            )
        }
        _ => return Err(format!("the constraint {constraint} was not read")),
    })
}

/// Drops a foreign key or a CHECK constraint that another one repeats.
pub(in super::super) fn drop_check_or_reference(
    context: Context<'_>,
    table: &Table,
    constraint: &str,
) -> Result<Steps, String> {
    let dialect = Dialect {
        database: context.database,
    };
    let (drop, add, twins) = declarations(table, constraint)?;
    let is_there = |name: &str| {
        format!(
            "EXISTS (SELECT 1 FROM information_schema.TABLE_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = {} AND TABLE_NAME = {} AND CONSTRAINT_NAME = {})",
            text(&table.schema),
            text(&table.name),
            text(name)
        )
    };
    let twin = twins.first().map_or(String::new(), |twin| {
        format!(
            "IF NOT {} THEN\n  {}\nEND IF;\n",
            is_there(twin),
            dialect.raise(&text(&format!(
                "the constraint {twin} of {} is missing",
                name(table)
            )))
        )
    });
    let forward = format!(
        "IF {} THEN\n{twin}ALTER TABLE {} DROP {drop};\nEND IF;",
        is_there(constraint),
        name(table)
    );
    let back = format!(
        "IF NOT {} THEN\nALTER TABLE {} ADD {add};\nEND IF;",
        is_there(constraint),
        name(table)
    );
    let step = |what: &str, inner: &str| {
        Step::new(
            what,
            dialect.block(table, None, &dialect.guarded(table, inner)),
        )
    };
    Ok(Steps {
        steps: vec![step(
            "Drops the constraint where the one that repeats it is there. Locks the table for the change of its definition only.",
            &forward,
        )],
        is_online: true,
        undo: vec![step(
            "Adds the constraint again and checks all rows.",
            &back,
        )],
        ..Steps::default()
    })
}
