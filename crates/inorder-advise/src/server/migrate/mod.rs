//! The steps of a change as scripts that people run with `psql` and `mariadb`.
//!
//! A script stops at its first error. A step that takes something away is one statement: it takes its locks, proves what
//! it relies on under them, and then acts, or changes nothing. Each step may be run again, and does nothing where its
//! change was made already.

mod mariadb;
mod postgres;
mod script;
mod spelling;

pub use script::{cost, script};

use super::{
    model::{ColumnTo, Database, Index, Prediction, Product, Table},
    rules::{self, Action, ColumnName},
};
use crate::classify::{Made, made_by};
use serde::Serialize;

/// Rates that durations are estimated with: bytes per second of rows that are written again, and of indexes built.
/// Both are those of one ordinary SSD under other load; a report states them.
pub const ROWS_BYTES_PER_S: f64 = 20e6;
/// See [`ROWS_BYTES_PER_S`].
pub const INDEX_BYTES_PER_S: f64 = 50e6;
/// Bytes per second of rows that a proof reads, from an ordinary SSD too.
pub const READ_BYTES_PER_S: f64 = 200e6;

/// One step: statements that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What it does, and what it locks.
    pub what: String,
    /// The statements as the client reads them, each with what ends it.
    pub statements: Vec<String>,
}

/// How a change is made, what it takes and how it is undone.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Steps {
    /// The steps in their order.
    pub steps: Vec<Step>,
    /// Whether reads and writes go on but for locks that end by themselves.
    pub is_online: bool,
    /// Bytes that it takes beside the table until it is done.
    pub extra_bytes: u64,
    /// Seconds, estimated from bytes and the stated rates.
    pub seconds: f64,
    /// The steps that take it back, from any state.
    pub undo: Vec<Step>,
}

/// What a change is made in.
#[derive(Debug, Clone, Copy)]
pub struct Context<'d> {
    /// The database as it was read.
    pub database: &'d Database,
    /// Every change that is proposed, this one too: others may be made before it.
    pub actions: &'d [Action],
}

impl Step {
    fn new(what: impl Into<String>, statements: Vec<String>) -> Self {
        Step {
            what: what.into(),
            statements,
        }
    }
}

/// The steps of an action.
///
/// # Errors
/// Why there are none, in a sentence.
pub fn steps(
    context: Context<'_>,
    action: &Action,
    predictions: &[(ColumnName, Prediction)],
) -> Result<Steps, String> {
    match (context.database.product, action) {
        (_, Action::OrderedUuid { column }) => ordered(context, column),
        (Product::Postgres, Action::Convert { columns, to }) => {
            postgres::convert(context, columns, *to, predictions)
        }
        (Product::Postgres, Action::Widen { columns }) => {
            postgres::convert(context, columns, ColumnTo::Bigint, predictions)
        }
        (Product::Postgres, action) => on_postgres(context, action),
        (Product::Mariadb, Action::Convert { columns, to }) => {
            mariadb::convert(context, columns, *to)
        }
        (Product::Mariadb, Action::Widen { columns }) => {
            mariadb::convert(context, columns, ColumnTo::Bigint)
        }
        (Product::Mariadb, action) => on_mariadb(context, action),
    }
}

/// The steps of a change of PostgreSQL that keeps the types of columns.
#[rustfmt::skip]
fn on_postgres(context: Context<'_>, action: &Action) -> Result<Steps, String> {
    match action {
        Action::DropIndex { schema, table, index } => {
            let table = context.table(schema, table)?;
            postgres::drop_index(table, index, context.cover(table, index)?)
        }
        Action::DropConstraint { schema, table, index, .. } => {
            let table = context.table(schema, table)?;
            postgres::drop_constraint(table, index, context.cover(table, index)?)
        }
        Action::DropForeignKey { schema, table, constraint } | Action::DropCheck { schema, table, constraint } => {
            postgres::drop_check_or_reference(context.table(schema, table)?, constraint)
        }
        Action::PartialIndex { schema, table, index, column } => postgres::partial_index(context.table(schema, table)?, index, column),
        Action::Reindex { schema, table, index } => Ok(postgres::reindex(context.table(schema, table)?, index)),
        Action::AttachIndexes { schema, table, index } => postgres::attach_indexes(context.database, context.table(schema, table)?, index),
        Action::WidenSequence { schema, sequence, to } => postgres::widen_sequence(context.database, schema, sequence, to),
        Action::Convert { .. } | Action::Widen { .. } | Action::OrderedUuid { .. } => Err(NO_CHANGE.into()),
    }
}

/// The same of MariaDB.
#[rustfmt::skip]
fn on_mariadb(context: Context<'_>, action: &Action) -> Result<Steps, String> {
    match action {
        Action::DropIndex { schema, table, index } => {
            let table = context.table(schema, table)?;
            mariadb::drop_index(context, table, index, context.cover(table, index)?)
        }
        Action::DropForeignKey { schema, table, constraint } | Action::DropCheck { schema, table, constraint } => {
            mariadb::drop_check_or_reference(context, context.table(schema, table)?, constraint)
        }
        _ => Err(NO_CHANGE.into()),
    }
}

/// Why an action has no steps.
const NO_CHANGE: &str = "the engine has no such change";

impl<'d> Context<'d> {
    fn table(self, schema: &str, table: &str) -> Result<&'d Table, String> {
        self.database
            .table(schema, table)
            .ok_or_else(|| format!("{schema}.{table} was not read"))
    }

    /// Whether another change takes an index away or exchanges it.
    fn changes_index(self, table: &Table, name: &str) -> bool {
        self.actions.iter().any(|action| match action {
            Action::DropIndex {
                schema,
                table: of,
                index,
            }
            | Action::DropConstraint {
                schema,
                table: of,
                index,
                ..
            }
            | Action::PartialIndex {
                schema,
                table: of,
                index,
                ..
            } => (schema, of, &**index) == (&table.schema, &table.name, name),
            _ => false,
        })
    }

    /// The columns of a table that changes give another type.
    fn retyped(self, table: &Table) -> Vec<&'d str> {
        let columns = self.actions.iter().flat_map(|action| match action {
            Action::Convert { columns, .. } | Action::Widen { columns } => &columns[..],
            _ => &[],
        });
        columns
            .filter(|own| (&own.schema, &own.table) == (&table.schema, &table.name))
            .map(|own| own.column.as_str())
            .collect()
    }

    /// Whether a change gives a column another default.
    fn changes_default(self, table: &Table, name: &str) -> bool {
        self.actions.iter().any(|action| {
            matches!(action, Action::OrderedUuid { column }
                if (&*column.schema, &*column.table, &*column.column) == (&*table.schema, &*table.name, name))
        })
    }

    /// The index that serves in the place of one that goes, and stays itself. `None` for an index that serves nothing.
    fn cover(self, table: &Table, index: &str) -> Result<Option<&'d str>, String> {
        let table = self.table(&table.schema, &table.name)?;
        let own = found(table, index)?;
        if !own.is_valid {
            return Ok(None);
        }
        let is_part = |other: &&Index| {
            let of = own.columns().unwrap_or_default();
            let key = other.columns().filter(|key| !key.is_empty());
            other.name != own.name
                && other.is_unique
                && other.is_valid
                && other.predicate.is_none()
                && key.is_some_and(|key| key.iter().all(|column| of.contains(column)))
        };
        let same = rules::replacements(table, own);
        // What is unique by fewer columns is so by all.
        let mut others = same.into_iter().chain(table.indexes.iter().filter(is_part));
        let stays = others.find(|other| {
            !self.actions.iter().any(|action| {
                matches!(action, Action::DropIndex { schema, table: of, index } | Action::DropConstraint { schema, table: of, index, .. }
                    if (schema, of, index) == (&table.schema, &table.name, &other.name))
            })
        });
        let first = stays.ok_or("no index would serve in its place")?;
        Ok(Some(&first.name))
    }
}

/// On what the drop of an index depends, in words.
fn where_as_read(cover: Option<&str>) -> String {
    cover.map_or(String::new(), |cover| {
        format!(" where {cover} is as it was read")
    })
}

fn found<'t>(table: &'t Table, index: &str) -> Result<&'t Index, String> {
    table
        .index(index)
        .ok_or_else(|| format!("the index {index} was not read"))
}

/// The default of a column whose ids the server makes. Where the application makes them there is no statement.
fn ordered(context: Context<'_>, name: &ColumnName) -> Result<Steps, String> {
    let database = context.database;
    let table = context.table(&name.schema, &name.table)?;
    let column = table
        .column(&name.column)
        .ok_or("the column was not read")?;
    let default = column
        .default
        .as_deref()
        .ok_or("the application makes the ids: it takes UUIDv7 from its library")?;
    if let Some(Made::InOrder(text)) = made_by(default) {
        return Err(format!("the default {text} makes ids in order already"));
    }
    match database.product {
        Product::Postgres if database.release >= (18, 0) => {
            postgres::ordered(table, column, default)
        }
        Product::Mariadb if database.release >= (11, 7) && database.version.contains("MariaDB") => {
            Ok(mariadb::ordered(context, table, column, default))
        }
        _ => Err("this release makes no UUIDv7: the function set for it is in bindings/sql".into()),
    }
}
