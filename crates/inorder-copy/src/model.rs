//! The schema of a database, as far as a copy has it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::rules::Rules;
use crate::value::Kind;

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// The columns of the primary key.
    pub key: Vec<String>,
    /// Its indexes without the primary key.
    pub indexes: Vec<Index>,
    /// Its foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
    /// Constraints, as the source writes them.
    pub checks: Vec<Check>,
    /// Its comment.
    pub comment: Option<String>,
    /// Whether its rows are in partitions.
    pub is_partitioned: bool,
    /// Whether SQLite stores it without a rowid.
    pub is_without_rowid: bool,
    /// The rows with NULL in the primary key. Only SQLite allows them.
    pub keyless_rows: u64,
    /// The size that the source estimates, in rows.
    pub rows_estimated: u64,
    /// What is not copied, or not as it was.
    pub notes: Vec<String>,
    /// What only a copy in the same engine has, with statements to edit for another one.
    pub left: Vec<Left>,
    /// The statement that creates it, as SQLite has it.
    pub statement: Option<String>,
    /// The primary key as PostgreSQL writes it, if it is more than its columns.
    pub key_definition: Option<String>,
    /// Other constraints as PostgreSQL writes them: their names and what follows.
    pub constraints: Vec<(String, String)>,
    /// The SQL of its expressions; `None` for that of the destination.
    pub dialect: Option<Dialect>,
    /// Whether the copy has the statements of the source.
    pub is_verbatim: bool,
    /// Why it can't be copied: its columns that have no equivalent. The others are described.
    pub obstacles: Vec<String>,
}

/// What is not copied, and the statement that would create it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// What it is, and why it is not copied.
    pub note: String,
    /// The statement, in the SQL of the source.
    pub ddl: String,
}

/// A column.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The type in the source.
    pub declared: String,
    /// What its values are.
    pub kind: Kind,
    /// The query expression that reads it.
    pub read: String,
    /// The type in PostgreSQL.
    pub postgres: String,
    /// The type in an SQLite file; `None` until a copy goes there.
    pub sqlite: Option<SqliteType>,
    /// What happens to values that the copy can't have.
    pub rules: Option<Arc<Rules>>,
    /// What was decided about its type, where that might surprise.
    pub decisions: Vec<String>,
    /// Whether it refuses NULL.
    pub is_not_null: bool,
    /// Its default, if the copy can have it.
    pub default: Option<Default_>,
    /// The next number, if the database counts.
    pub next: Option<String>,
    /// How it counts, as PostgreSQL writes it; empty for the numbers from 1 on.
    pub counting: String,
    /// Whether it counts each row, and refuses given numbers.
    pub is_always: bool,
    /// The expression that generates its values, and whether they are not stored.
    pub generated: Option<(String, bool)>,
    /// Whether its texts are equal if they differ in case only.
    pub is_case_insensitive: bool,
    /// The collation as PostgreSQL names it, if it is not that of the type.
    pub collation: Option<String>,
    /// Its comment.
    pub comment: Option<String>,
}

impl Column {
    /// Whether SQLite stores its values as text.
    pub fn is_stored_as_text(&self) -> bool {
        let ty = self.sqlite.as_ref();
        ty.is_none_or(|ty| ty.storage == Storage::Text)
    }
}

/// How a column is declared in SQLite, and what it stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteType {
    /// The declared type.
    pub declared: String,
    /// What its values are.
    pub storage: Storage,
}

/// What SQLite stores of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Integers.
    Integer,
    /// Floating-point numbers.
    Real,
    /// Integers and floating-point numbers.
    Number,
    /// Text.
    Text,
    /// Bytes.
    Blob,
    /// Any value with its own storage class.
    Any,
}

/// What separates a note from the statement that would create what is not copied.
const DDL_BREAK: char = '\u{1f}';

/// A note with the statement that would create what is not copied.
pub fn with_ddl(note: &str, ddl: &str) -> String {
    format!("{note}{DDL_BREAK}{ddl}")
}

/// A note, and the statement that would create what is not copied.
pub fn without_ddl(note: &str) -> (&str, Option<&str>) {
    match note.split_once(DDL_BREAK) {
        Some((note, ddl)) => (note, Some(ddl)),
        None => (note, None),
    }
}

/// A default value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Default_ {
    /// A number.
    Number(String),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// The time of the insert.
    Now,
    /// An expression of PostgreSQL.
    Postgres(String),
    /// An expression of the source, which is not PostgreSQL.
    Expression(String),
}

/// An index.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// Its name.
    pub name: String,
    /// Whether no two rows have the same values.
    pub is_unique: bool,
    /// Its columns, in order.
    pub columns: Vec<String>,
    /// Whether it has only the beginnings of values.
    pub has_prefix: bool,
    /// The statement that creates it, as SQLite has it.
    pub statement: Option<String>,
    /// What follows the table in the statement of an index with expressions, a condition or included columns.
    pub definition: Option<String>,
    /// Its columns in parentheses and its options as PostgreSQL writes them, if it is more than its columns.
    pub postgres: Option<String>,
}

/// How a source stores a table and its indexes, as far as that decides their size.
#[derive(Clone, Debug, Default)]
pub struct TableStorage {
    /// Bytes of a page.
    pub page_bytes: Option<u32>,
    /// Percent of a page of the table that inserts fill; `None`: the default.
    pub fill_percent: Option<u32>,
    /// All indexes, in the order of their names.
    pub indexes: Vec<StoredIndex>,
}

/// An index as a source stores it.
#[derive(Clone, Debug, Default)]
pub struct StoredIndex {
    /// Its name.
    pub name: String,
    /// Whether it is that of the primary key.
    pub is_key: bool,
    /// Whether no two rows have the same values.
    pub is_unique: bool,
    /// The columns of its key, each with the number of characters that it has of it, if not all.
    pub columns: Vec<(String, Option<usize>)>,
    /// Columns that entries of leaf pages have besides.
    pub included: Vec<String>,
    /// Percent of a page that a split at the end of the index leaves full; `None`: the default.
    pub fill_percent: Option<u32>,
    /// Whether equal values are stored once, with a list of rows.
    pub is_deduplicated: bool,
    /// Why it is not one entry for each row in a B-tree of its columns, if it is not.
    pub special: Option<String>,
    /// Its size now, if the source tells.
    pub bytes: Option<u64>,
}

/// A foreign key.
#[derive(Clone, Debug, Default)]
pub struct ForeignKey {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// The table that it refers to.
    pub parent: String,
    /// The columns that it refers to.
    pub parent_columns: Vec<String>,
    /// The action when a row of the parent is deleted.
    pub on_delete: String,
    /// The action when the key of a row of the parent changes.
    pub on_update: String,
    /// Whether the last columns are periods (`PERIOD`).
    pub has_period: bool,
    /// All that follows the columns of the parent, as PostgreSQL writes it, if it is more than these actions.
    pub postgres: Option<String>,
}

/// A CHECK constraint.
#[derive(Clone, Debug)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// The condition in the SQL of the source.
    pub condition: String,
    /// Whether all rows keep it.
    pub is_valid: bool,
    /// Whether the database enforces it.
    pub is_enforced: bool,
}

/// The SQL in which a source writes its expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite.
    Sqlite,
    /// MariaDB and MySQL.
    MariaDb,
    /// PostgreSQL.
    Postgres,
}

/// A schema.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// The statements of objects that are not copied, in the SQL of the source.
    pub left: Vec<Left>,
    /// The tables, in the order of their names.
    pub tables: Vec<Table>,
    /// Objects that are not copied.
    pub notes: Vec<String>,
}

impl Table {
    /// Adds what only a copy in the same engine has.
    pub fn leave(&mut self, note: String, ddl: &str) {
        let ddl = ddl.to_owned();
        self.left.push(Left { note, ddl });
    }
}

impl Schema {
    /// Gives each index the name of its table before its own, unless that begins with it, and a number after it where
    /// tables, primary keys or other indexes have the name: databases know indexes by names that no other table has. The
    /// same schema has the same names each time.
    pub fn name_indexes(&mut self) {
        let tables = self.tables.iter().map(|table| table.name.to_lowercase());
        let mut taken: BTreeSet<String> = tables
            .flat_map(|name| [format!("{name}_pkey"), name])
            .collect();
        for table in &mut self.tables {
            for index in &mut table.indexes {
                let name = match index.name.starts_with(&*table.name) {
                    true => index.name.clone(),
                    false => format!("{}_{}", table.name, index.name),
                };
                let numbered = (2..).map(|number| format!("{name}_{number}"));
                let mut names = std::iter::once(name.clone()).chain(numbered);
                let free = names.find(|name| taken.insert(name.to_lowercase()));
                index.name = free.unwrap_or(name);
            }
        }
    }
}

/// Whether a default is a number. `inf` and `nan` are names in SQL.
pub fn is_number(default: &str) -> bool {
    default.parse::<f64>().is_ok_and(f64::is_finite)
}
