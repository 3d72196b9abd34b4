//! Changes that a load makes to its table: it creates, replaces, empties or extends it, or updates its rows.

use inorder_key::{Encoding, KeyKind};
use std::time::Duration;

/// Maximum wait for a lock on the table, unless the caller sets another.
const LOCK_MAX: Duration = Duration::from_secs(10);

/// Kinds of values that a new column stores. Each server has a type for each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Integers of 64 bits.
    Integer,
    /// Floating-point numbers.
    Real,
    /// Decimals whose digits are kept.
    Decimal {
        /// The most digits before the point.
        whole_digits: usize,
        /// The most digits after the point.
        fraction_digits: usize,
    },
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// Truth values.
    Boolean,
    /// UUIDs.
    Uuid,
    /// Calendar dates.
    Date,
    /// Dates with a time of day, in no time zone.
    DateTime,
    /// Dates with a time of day and a time zone.
    Instant,
    /// Points in time, given in UTC ([`Given::Instant`](crate::Given::Instant)).
    Utc,
    /// Documents of JSON.
    Json,
    /// Ids of a kind that this project generates, or that the server counts.
    Id(KeyKind, Encoding),
    /// Values of a type of the server, as the user wrote it.
    Declared(String),
}

/// A column to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewColumn {
    /// Its name.
    pub name: String,
    /// The values it stores.
    pub kind: ColumnKind,
}

/// A foreign key of one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewForeignKey {
    /// The column.
    pub column: String,
    /// The table that it refers to.
    pub parent: String,
    /// The column that it refers to; `None` for the primary key.
    pub parent_column: Option<String>,
}

/// A table to create.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewTable {
    /// Its columns, in order.
    pub columns: Vec<NewColumn>,
    /// The columns of its primary key; empty for none.
    pub key: Vec<String>,
    /// The columns of each index.
    pub indexes: Vec<Vec<String>>,
    /// Its foreign keys.
    pub foreign_keys: Vec<NewForeignKey>,
}

/// The state of the table when its rows arrive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// As it is.
    #[default]
    Kept,
    /// Without its rows.
    Emptied,
    /// New. The load fails if it exists.
    Created(NewTable),
    /// New, in place of the one that exists.
    Replaced(NewTable),
}

/// What a load does to its table besides inserting rows. If the load fails, the table is as it was; a server that
/// commits at DDL statements keeps added columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableChange {
    /// The state of the table when its rows arrive.
    pub start: Start,
    /// Columns to add.
    pub added: Vec<NewColumn>,
    /// Whether a row whose primary key exists updates the columns of the load, instead of being refused.
    pub updates: bool,
    /// Maximum wait for a lock.
    pub lock_max: Duration,
    /// Whether the time zone of the session is UTC, for an engine whose text has no other zone.
    pub is_utc: bool,
}

impl Default for TableChange {
    fn default() -> Self {
        TableChange {
            start: Start::Kept,
            added: Vec::new(),
            updates: false,
            lock_max: LOCK_MAX,
            is_utc: false,
        }
    }
}

impl TableChange {
    /// Returns the table to create, if any.
    pub(crate) fn created(&self) -> Option<&NewTable> {
        match &self.start {
            Start::Created(table) | Start::Replaced(table) => Some(table),
            Start::Kept | Start::Emptied => None,
        }
    }
}

/// How a server spells a table's definition.
pub(crate) struct Spelling<'a> {
    /// Quotes a name.
    pub quoted: &'a dyn Fn(&str) -> String,
    /// Quotes the name of a table that may have a schema.
    pub table: &'a dyn Fn(&str) -> String,
    /// Returns the type of a column. The flag tells whether a key or an index contains it.
    pub type_of: &'a dyn Fn(&NewColumn, bool) -> String,
}

impl NewTable {
    /// Returns the column definitions, the primary key and the foreign keys, in parentheses.
    pub(crate) fn body(&self, spelling: &Spelling<'_>) -> String {
        let Spelling {
            quoted,
            table,
            type_of,
        } = spelling;
        let list = |names: &[String]| {
            let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
            names.join(", ")
        };
        let mut lines: Vec<String> = Vec::new();
        for column in &self.columns {
            let ty = type_of(column, self.is_keyed(&column.name));
            let null = match self.key.contains(&column.name) {
                true => " NOT NULL",
                false => "",
            };
            lines.push(format!("{} {ty}{null}", quoted(&column.name)));
        }
        if !self.key.is_empty() {
            lines.push(format!("PRIMARY KEY ({})", list(&self.key)));
        }
        for key in &self.foreign_keys {
            let of = key.parent_column.iter().map(|column| quoted(column));
            let of = of.map(|column| format!("({column})")).collect::<String>();
            let (column, parent) = (quoted(&key.column), table(&key.parent));
            lines.push(format!("FOREIGN KEY ({column}) REFERENCES {parent}{of}"));
        }
        format!("(\n  {}\n)", lines.join(",\n  "))
    }

    /// Returns whether a key or an index contains the column.
    fn is_keyed(&self, column: &str) -> bool {
        let indexed = self.indexes.iter().flatten();
        let foreign = self.foreign_keys.iter().map(|key| &key.column);
        let mut keyed = self.key.iter().chain(indexed).chain(foreign);
        keyed.any(|name| name == column)
    }
}
