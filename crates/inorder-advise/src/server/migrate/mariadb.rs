//! Changes of MariaDB and MySQL.

use super::{INDEX_BYTES_PER_S, ROWS_BYTES_PER_S, Step, Steps, find};
use crate::server::{
    model::{Column, ColumnTo, Database, ForeignKey, Table, TableKind},
    rules::ColumnName,
};
use std::collections::BTreeMap;

/// Seconds that a statement waits for a lock before it gives up.
const LOCK_WAIT: &str = "SET SESSION lock_wait_timeout = 5";

/// Quotes a name.
pub fn quote(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// The qualified name of a table.
pub fn name(table: &Table) -> String {
    format!("{}.{}", quote(&table.schema), quote(&table.name))
}

fn text(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"))
}

/// Drops a secondary index.
pub fn drop_index(table: &Table, index: &str) -> Result<Steps, String> {
    let own = table
        .index(index)
        .ok_or_else(|| format!("the index {index} was not read"))?;
    if table.kind == TableKind::CatalogOnly {
        return Ok(Steps {
            steps: vec![Step::new(
                format!(
                    "Drops the index. {} copies the table, and writes wait.",
                    table.engine
                ),
                vec![
                    LOCK_WAIT.into(),
                    format!("ALTER TABLE {} DROP INDEX {}", name(table), quote(index)),
                ],
            )],
            is_online: false,
            extra_bytes: table.total_bytes(),
            seconds: table.bytes as f64 / ROWS_BYTES_PER_S,
            undo: vec![format!(
                "ALTER TABLE {} ADD {}",
                name(table),
                own.definition
            )],
        });
    }
    Ok(Steps {
        steps: vec![Step::new(
            "Drops the index. Reads and writes go on; locks the table for the change of its definition only.",
            vec![
                LOCK_WAIT.into(),
                format!(
                    "ALTER TABLE {} DROP INDEX {}, ALGORITHM=INPLACE, LOCK=NONE",
                    name(table),
                    quote(index)
                ),
            ],
        )],
        is_online: true,
        undo: vec![format!(
            "ALTER TABLE {} ADD {}, ALGORITHM=INPLACE, LOCK={}",
            name(table),
            own.definition,
            // InnoDB builds other trees under a lock.
            if own.method == "btree" {
                "NONE"
            } else {
                "SHARED"
            }
        )],
        ..Steps::default()
    })
}

/// Drops a foreign key or a CHECK constraint.
pub fn drop_check_or_reference(table: &Table, constraint: &str) -> Result<Steps, String> {
    let of = name(table);
    let key = table.foreign_keys.iter().find(|own| own.name == constraint);
    let check = table.checks.iter().find(|own| own.name == constraint);
    let constraint = quote(constraint);
    let (drop, add) = match (key, check) {
        (Some(key), _) => (format!("FOREIGN KEY {constraint}"), declared(key)),
        (_, Some(check)) => (
            format!("CONSTRAINT {constraint}"),
            format!("CONSTRAINT {constraint} CHECK ({})", check.definition),
        ),
        _ => return Err(format!("the constraint {constraint} was not read")),
    };
    Ok(Steps {
        steps: vec![Step::new(
            "Drops the constraint. Locks the table for the change of its definition only.",
            vec![LOCK_WAIT.into(), format!("ALTER TABLE {of} DROP {drop}")],
        )],
        is_online: true,
        undo: vec![format!("ALTER TABLE {of} ADD {add}")],
        ..Steps::default()
    })
}

/// A foreign key as a statement declares it.
fn declared(key: &ForeignKey) -> String {
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

/// Another type for columns that hold the same ids. The server copies each table and blocks its writes.
pub fn convert(database: &Database, columns: &[ColumnName], to: ColumnTo) -> Result<Steps, String> {
    let tables = by_table(database, columns)?;
    let digits =
        "^[0-9A-Fa-f]{8}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{12}$";
    // The type refuses some values of the right form, such as versions that the release doesn't know.
    let is_wrong = |column: &str| match to {
        ColumnTo::Binary16 => format!("{column} NOT RLIKE '{digits}'"),
        _ => format!("{column} IS NOT NULL AND CAST({column} AS UUID) IS NULL"),
    };
    let counts: Vec<String> = tables
        .iter()
        .flat_map(|(table, columns)| {
            let (from, is_wrong) = (name(table), &is_wrong);
            columns.iter().map(move |column| {
                let wrong = is_wrong(&quote(&column.name));
                format!("(SELECT count(*) FROM {from} WHERE {wrong})")
            })
        })
        .collect();
    let check = Step {
        what: "Counts values that do not fit the new type. Reads all rows.".into(),
        statements: vec![format!("SELECT {}", counts.join(" + "))],
        expected: Some("0".into()),
    };
    let mut alter = Vec::new();
    for (table, columns) in &tables {
        if let Some(column) = columns
            .iter()
            .find(|column| to == ColumnTo::Binary16 && column.default.is_some())
        {
            return Err(format!("{}.{} has a default", table.name, column.name));
        }
        match to {
            ColumnTo::Binary16 => {
                let convert = columns.iter().map(|column| {
                    format!("{0} = UNHEX(REPLACE({0}, '-', ''))", quote(&column.name))
                });
                // A time that is set explicitly is not set to the present one.
                let times = table.columns.iter().filter(|own| own.is_set_on_update);
                let keep = times.map(|own| format!("{0} = {0}", quote(&own.name)));
                let set: Vec<String> = convert.chain(keep).collect();
                alter.push(modify(table, columns, &|_| "varbinary(36)".into()));
                alter.push(format!("UPDATE {} SET {}", name(table), set.join(", ")));
                alter.push(modify(table, columns, &|_| "binary(16)".into()));
            }
            _ => alter.push(modify(table, columns, &|_| "uuid".into())),
        }
    }
    Ok(copied(&tables, vec![check], alter))
}

/// The type bigint for integer columns that hold the same ids.
pub fn widen(database: &Database, columns: &[ColumnName]) -> Result<Steps, String> {
    let tables = by_table(database, columns)?;
    let alter = tables
        .iter()
        .map(|(table, columns)| modify(table, columns, &wide))
        .collect();
    Ok(copied(&tables, Vec::new(), alter))
}

/// The type bigint for an integer column. Leading zeros fill the declared width as before.
fn wide(column: &Column) -> String {
    let declared = &column.type_name;
    match declared.split_once('(') {
        Some((_, width)) if declared.contains("zerofill") => format!("bigint({width}"),
        _ if declared.contains("zerofill") => "bigint unsigned zerofill".into(),
        _ if declared.contains("unsigned") => "bigint unsigned".into(),
        _ => "bigint".into(),
    }
}

type Tables<'d> = Vec<(&'d Table, Vec<&'d Column>)>;

fn by_table<'d>(database: &'d Database, columns: &[ColumnName]) -> Result<Tables<'d>, String> {
    let mut names: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for column in columns {
        names
            .entry((&column.schema, &column.table))
            .or_default()
            .push(&column.column);
    }
    names
        .into_iter()
        .map(|((schema, table), names)| {
            let table = find(database, schema, table)?;
            Ok((
                table,
                names.iter().filter_map(|name| table.column(name)).collect(),
            ))
        })
        .collect()
}

/// Foreign keys go before the tables are copied and come back behind it, which checks all rows.
fn copied(tables: &Tables<'_>, before: Vec<Step>, alter: Vec<String>) -> Steps {
    let keys = keys(tables);
    let of_child = |key: &ForeignKey| format!("{}.{}", quote(&key.child_schema), quote(&key.child));
    let drop = keys.iter().map(|key| {
        format!(
            "ALTER TABLE {} DROP FOREIGN KEY {}",
            of_child(key),
            quote(&key.name)
        )
    });
    let add = keys
        .iter()
        .map(|key| format!("ALTER TABLE {} ADD {}", of_child(key), declared(key)));
    let mode = [
        "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO'".to_owned(),
        LOCK_WAIT.to_owned(),
    ];
    let mut steps = before;
    if !keys.is_empty() {
        steps.push(Step::new(
            "Drops the foreign keys. Nobody may write from here to the last step.",
            std::iter::once(LOCK_WAIT.to_owned()).chain(drop).collect(),
        ));
    }
    steps.push(Step::new(
        "Copies each table with the new type. Reads go on, writes wait. gh-ost and pt-online-schema-change copy without that where no foreign keys are.",
        mode.into_iter().chain(alter).collect(),
    ));
    if !keys.is_empty() {
        steps.push(Step::new(
            "Adds the foreign keys again and checks all rows. Writes wait.",
            add.collect(),
        ));
    }
    let rows: u64 = tables.iter().map(|(table, _)| table.bytes).sum();
    let indexes: u64 = tables
        .iter()
        .flat_map(|(table, _)| &table.indexes)
        .map(|index| index.bytes)
        .sum();
    Steps {
        steps,
        is_online: false,
        extra_bytes: rows + indexes,
        seconds: rows as f64 / ROWS_BYTES_PER_S + indexes as f64 / INDEX_BYTES_PER_S,
        undo: Vec::new(),
    }
}

/// The foreign keys over columns that change, each once.
fn keys<'d>(tables: &Tables<'d>) -> Vec<&'d ForeignKey> {
    let mut keys: Vec<&ForeignKey> = Vec::new();
    for (table, columns) in tables {
        let has = |names: &[String]| columns.iter().any(|column| names.contains(&column.name));
        keys.extend(table.foreign_keys.iter().filter(|key| has(&key.columns)));
        keys.extend(
            table
                .referenced_by
                .iter()
                .filter(|key| has(&key.parent_columns)),
        );
    }
    keys.sort_by_key(|key| (&key.child_schema, &key.child, &key.name));
    keys.dedup();
    keys
}

/// The statement that gives columns another type and keeps what else is declared.
fn modify(table: &Table, columns: &[&Column], to: &dyn Fn(&Column) -> String) -> String {
    let parts: Vec<String> = columns
        .iter()
        .map(|column| {
            let mut out = format!("MODIFY COLUMN {} {}", quote(&column.name), to(column));
            out += if column.is_not_null {
                " NOT NULL"
            } else {
                " NULL"
            };
            if column.is_serial {
                out += " AUTO_INCREMENT";
            }
            if let Some(default) = &column.default {
                out += &format!(" DEFAULT {default}");
            }
            if column.is_invisible {
                out += " INVISIBLE";
            }
            if !column.comment.is_empty() {
                out += &format!(" COMMENT {}", text(&column.comment));
            }
            out
        })
        .collect();
    format!(
        "ALTER TABLE {} {}, ALGORITHM=COPY, LOCK=SHARED",
        name(table),
        parts.join(", ")
    )
}
