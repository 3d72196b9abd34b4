//! The changes that advice consists of: what a rule proposes, a trial measures and a migration makes.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One change of a schema. Names are spelled as `sqlite_schema` spells them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub enum Change {
    /// Drops an index that CREATE INDEX made.
    DropIndex {
        /// Its name.
        index: String,
    },
    /// Gives an index the condition `WHERE column IS NOT NULL`.
    PartialIndex {
        /// Its name.
        index: String,
        /// The column that is NULL in every row.
        column: String,
    },
    /// Removes a UNIQUE constraint from a table's definition.
    DropUnique {
        /// The table.
        table: String,
        /// The constraint's columns in its order.
        columns: Vec<String>,
    },
    /// Makes a rowid table WITHOUT ROWID.
    WithoutRowid {
        /// The table.
        table: String,
    },
    /// Makes a unique key the primary key of a rowid table that has none, and the table WITHOUT ROWID.
    WithoutRowidByUnique {
        /// The table.
        table: String,
        /// The key's columns in its order. A UNIQUE constraint or an index has them, and each is NOT NULL.
        columns: Vec<String>,
    },
    /// Makes a WITHOUT ROWID table a rowid table.
    Rowid {
        /// The table.
        table: String,
    },
    /// Makes a primary key of another integer type an INTEGER PRIMARY KEY, the rowid's alias; or a unique key of integers,
    /// where the table has no primary key.
    IntegerPrimaryKey {
        /// The table.
        table: String,
        /// The key's column.
        column: String,
    },
    /// Stores ids as blobs. The columns hold the same ids and change together.
    IdsToBlobs {
        /// Every column that holds these ids.
        columns: Vec<Conversion>,
    },
    /// Sets the page size of the file.
    PageSize {
        /// Bytes per page.
        bytes: u32,
    },
    /// Rebuilds the file without other changes.
    Vacuum,
}

/// A column of ids and the form of its values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversion {
    /// The table.
    pub table: String,
    /// The column.
    pub column: String,
    /// How every value that is not NULL is written.
    pub form: IdForm,
}

/// How an id is written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdForm {
    /// Hexadecimal digits without hyphens or a prefix, lower case.
    Hex,
    /// Hexadecimal digits without hyphens or a prefix, upper case.
    HexUpper,
    /// A UUID with hyphens, lower case.
    Uuid,
    /// A UUID with hyphens, upper case.
    UuidUpper,
    /// 26 digits of Crockford's base 32, upper case.
    Ulid,
    /// `0x` and hexadecimal digits, lower case.
    PrefixedHex,
    /// `0x` and hexadecimal digits, upper case.
    PrefixedHexUpper,
}

impl IdForm {
    /// Every form.
    pub(crate) const ALL: [IdForm; 7] = [
        IdForm::Hex,
        IdForm::HexUpper,
        IdForm::Uuid,
        IdForm::UuidUpper,
        IdForm::Ulid,
        IdForm::PrefixedHex,
        IdForm::PrefixedHexUpper,
    ];
}

/// Changes that are made together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// In the order in which they are made.
    pub changes: Vec<Change>,
}

impl fmt::Display for Change {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::DropIndex { index } => write!(out, "drop the index {index}"),
            Change::PartialIndex { index, column } => {
                write!(
                    out,
                    "make the index {index} partial: WHERE {column} IS NOT NULL"
                )
            }
            Change::DropUnique { table, columns } => {
                write!(out, "drop UNIQUE({}) of {table}", columns.join(", "))
            }
            Change::WithoutRowid { table } => write!(out, "make {table} WITHOUT ROWID"),
            Change::WithoutRowidByUnique { table, columns } => write!(
                out,
                "make {table} WITHOUT ROWID, with the primary key ({})",
                columns.join(", ")
            ),
            Change::Rowid { table } => write!(out, "make {table} a rowid table"),
            Change::IntegerPrimaryKey { table, column } => {
                write!(out, "make {table}.{column} INTEGER PRIMARY KEY")
            }
            Change::IdsToBlobs { columns } => {
                let names = columns
                    .iter()
                    .map(|own| format!("{}.{}", own.table, own.column));
                write!(
                    out,
                    "store ids as blobs: {}",
                    names.collect::<Vec<_>>().join(", ")
                )
            }
            Change::PageSize { bytes } => write!(out, "set the page size to {bytes}"),
            Change::Vacuum => write!(out, "rebuild the file"),
        }
    }
}
