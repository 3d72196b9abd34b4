//! The steps of a change as statements that are printed and never run.

mod convert;
mod mariadb;
mod postgres;

use super::{
    model::{Database, Prediction, Product, Table},
    rules::{Action, ColumnName},
};
use crate::report::plain;
use serde::Serialize;

/// Rates that durations are estimated with: bytes per second of rows that are written again, and of indexes built.
/// Both are those of one ordinary SSD under other load; a report states them.
pub const ROWS_BYTES_PER_S: f64 = 20e6;
/// See [`ROWS_BYTES_PER_S`].
pub const INDEX_BYTES_PER_S: f64 = 50e6;

/// One step: statements that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What it does, and what it locks.
    pub what: String,
    /// The statements, each sent alone.
    pub statements: Vec<String>,
    /// What the first column of the last statement's only row must be; a query that checks.
    pub expected: Option<String>,
}

/// How a change is made, what it takes and how it is undone.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Steps {
    /// The steps in their order.
    pub steps: Vec<Step>,
    /// Whether reads and writes go on but for short locks.
    pub is_online: bool,
    /// Bytes that it takes beside the table until it is done.
    pub extra_bytes: u64,
    /// Seconds, estimated from bytes and the stated rates.
    pub seconds: f64,
    /// Statements that take it back.
    pub undo: Vec<String>,
}

impl Step {
    fn new(what: impl Into<String>, statements: Vec<String>) -> Self {
        Step {
            what: what.into(),
            statements,
            expected: None,
        }
    }
}

/// The steps of an action.
///
/// # Errors
/// Why there are none, in a sentence.
pub fn steps(
    database: &Database,
    action: &Action,
    predictions: &[(ColumnName, Prediction)],
) -> Result<Steps, String> {
    let table = |schema: &str, table: &str| find(database, schema, table);
    match (database.product, action) {
        (_, Action::OrderedUuid { column }) => ordered(database, column),
        (Product::Postgres, Action::Convert { columns, to }) => {
            convert::steps(database, columns, *to, predictions)
        }
        (Product::Postgres, Action::Widen { columns }) => {
            let to = super::model::ColumnTo::Bigint;
            convert::steps(database, columns, to, predictions)
        }
        (Product::Postgres, action) => on_postgres(database, &table, action),
        (Product::Mariadb, Action::Convert { columns, to }) => {
            mariadb::convert(database, columns, *to)
        }
        (Product::Mariadb, Action::Widen { columns }) => mariadb::widen(database, columns),
        (Product::Mariadb, action) => on_mariadb(&table, action),
    }
}

/// Finds a table.
type Tables<'d, 'f> = &'f dyn Fn(&str, &str) -> Result<&'d Table, String>;

/// The steps of a change of PostgreSQL that keeps the types of columns.
#[rustfmt::skip]
fn on_postgres(database: &Database, of: Tables<'_, '_>, action: &Action) -> Result<Steps, String> {
    match action {
        Action::DropIndex { schema, table, index } => postgres::drop_index(of(schema, table)?, index),
        Action::DropConstraint { schema, table, index, .. } => postgres::drop_constraint(of(schema, table)?, index),
        Action::DropForeignKey { schema, table, constraint } | Action::DropCheck { schema, table, constraint } => {
            postgres::drop_check_or_reference(of(schema, table)?, constraint)
        }
        Action::PartialIndex { schema, table, index, column } => postgres::partial_index(of(schema, table)?, index, column),
        Action::Reindex { schema, table, index } => Ok(postgres::reindex(of(schema, table)?, index)),
        Action::AttachIndexes { schema, table, index } => postgres::attach_indexes(database, of(schema, table)?, index),
        Action::WidenSequence { schema, sequence, to } => postgres::widen_sequence(database, schema, sequence, to),
        Action::Convert { .. } | Action::Widen { .. } | Action::OrderedUuid { .. } => Err(NO_CHANGE.into()),
    }
}

/// The same of MariaDB.
fn on_mariadb(of: Tables<'_, '_>, action: &Action) -> Result<Steps, String> {
    match action {
        Action::DropIndex {
            schema,
            table,
            index,
        } => mariadb::drop_index(of(schema, table)?, index),
        Action::DropForeignKey {
            schema,
            table,
            constraint,
        }
        | Action::DropCheck {
            schema,
            table,
            constraint,
        } => mariadb::drop_check_or_reference(of(schema, table)?, constraint),
        _ => Err(NO_CHANGE.into()),
    }
}

/// Why an action has no steps.
const NO_CHANGE: &str = "the engine has no such change";

fn find<'d>(database: &'d Database, schema: &str, table: &str) -> Result<&'d Table, String> {
    database
        .table(schema, table)
        .ok_or_else(|| format!("{schema}.{table} was not read"))
}

/// The default of a column whose ids the server makes. Where the application makes them there is no statement.
fn ordered(database: &Database, name: &ColumnName) -> Result<Steps, String> {
    let table = find(database, &name.schema, &name.table)?;
    let column = table
        .column(&name.column)
        .ok_or("the column was not read")?;
    let default = column
        .default
        .as_deref()
        .ok_or("the application makes the ids: it takes UUIDv7 from its library")?;
    let (makes, of_table, set) = match database.product {
        Product::Postgres if database.release >= (18, 0) => (
            "uuidv7()",
            postgres::name(table),
            postgres::quote(&name.column),
        ),
        Product::Mariadb if database.release >= (11, 7) && database.version.contains("MariaDB") => {
            (
                "uuid_v7()",
                mariadb::name(table),
                mariadb::quote(&name.column),
            )
        }
        _ => {
            return Err(
                "this release makes no UUIDv7: the function set for it is in bindings/sql".into(),
            );
        }
    };
    let cast = if column.base_type == "uuid" || database.product == Product::Mariadb {
        ""
    } else {
        "::text"
    };
    let alter = |expression: &str| {
        format!("ALTER TABLE {of_table} ALTER COLUMN {set} SET DEFAULT ({expression})")
    };
    Ok(Steps {
        steps: vec![Step::new(
            "New rows get UUIDv7. Locks the table for the change of its definition only.",
            vec![alter(&format!("{makes}{cast}"))],
        )],
        is_online: true,
        undo: vec![alter(default)],
        ..Steps::default()
    })
}

/// A script of steps, with the statements that take them back as comments. Only statements have the characters of names
/// that end a line.
pub fn script(title: &str, steps: &Steps) -> String {
    let mut out = format!("-- {}\n", plain(title));
    let online = if steps.is_online {
        "online but for short locks"
    } else {
        "blocks writes"
    };
    out += &format!(
        "-- {online}; about {:.0} s at {:.0} MB/s of rows and {:.0} MB/s of indexes; {:.1} MB beside the table\n",
        steps.seconds.ceil(),
        ROWS_BYTES_PER_S / 1e6,
        INDEX_BYTES_PER_S / 1e6,
        steps.extra_bytes as f64 / 1e6
    );
    for (at, step) in steps.steps.iter().enumerate() {
        out += &format!("\n-- {}. {}\n", at + 1, plain(&step.what));
        for statement in &step.statements {
            out += &format!("{};\n", statement.trim_end_matches(';'));
        }
        if let Some(expected) = &step.expected {
            out += &format!("-- must be {}\n", plain(expected));
        }
    }
    if !steps.undo.is_empty() {
        out += "\n-- to take it back:\n";
        for statement in &steps.undo {
            // psql ends a comment at a carriage return too.
            let lines = statement.trim_end_matches(';').replace('\n', "\n-- ");
            out += &format!("-- {};\n", lines.replace('\r', "\r-- "));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name may hold any character. What ends a line for one client ends the comment too.
    #[test]
    fn names_in_comments_are_no_sql() {
        let name = "a\nDROP TABLE b;\rDROP TABLE c;\r\nDROP TABLE d;\u{1b}[2J\u{85}DROP TABLE e;";
        let steps = Steps {
            steps: vec![Step {
                what: format!("Fills {name}."),
                statements: vec!["SELECT 1".into()],
                expected: Some(name.into()),
            }],
            undo: vec![format!("DROP INDEX \"{name}\"")],
            ..Steps::default()
        };
        let text = script(&format!("uuid: {name}"), &steps);
        let lines = text.split(['\n', '\r']).filter(|line| !line.is_empty());
        let (comments, sql): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with("--"));
        assert_eq!(sql, ["SELECT 1;"], "{comments:?}");
        let (steps, undo) = text.split_once("to take it back").unwrap();
        assert!(!steps.contains(|letter: char| letter.is_control() && letter != '\n'));
        // Without the marks of comments the statement is as it was.
        let undo = undo.replace("-- ", "");
        assert!(
            undo.contains(&format!("DROP INDEX \"{name}\";")),
            "{undo:?}"
        );
    }
}
