//! Describes the table that rows are loaded into.

mod create;
mod forms;
mod full_text;
mod kinds;
mod native;
mod near;
mod sample;
mod sqlite;

use std::sync::Arc;

use inorder_btree::{Collation, KeyColumn, KeyOrder, TextEncoding};
use inorder_engine::Intake;

use crate::encode::{Affinity, Strict};
use crate::sql::place_of;

pub use create::{Create, ForeignKey, KeySpec};
pub(crate) use forms::fits;
pub use full_text::FullText;
pub(crate) use full_text::{dropped as dropped_full_text, has_index as has_full_text};
pub use kinds::Typing;
pub(crate) use sample::AllRows;
pub use sample::{FoundColumn, Sample};
pub use sqlite::describe;
pub(crate) use sqlite::unique_key;

/// A table.
#[derive(Clone, Debug)]
pub struct Destination {
    /// Its name.
    pub table: String,
    /// The columns that can be given a value, in the order of their declaration.
    pub columns: Vec<ColumnInfo>,
    /// The order of the columns in a record: the key of a WITHOUT ROWID table comes first.
    pub physical: Vec<usize>,
    /// The key that rows are stored in order of; empty if there is none.
    pub key: Vec<KeyPart>,
    /// The rowid alias.
    pub rowid: Option<usize>,
    /// Whether the key is unique.
    pub is_key_unique: bool,
    /// The encoding of text.
    pub encoding: TextEncoding,
    /// The page size in bytes, if known.
    pub page_bytes: Option<u64>,
}

/// A column.
#[derive(Clone, Debug)]
pub struct ColumnInfo {
    /// Its name.
    pub name: String,
    /// The declared type, as written.
    pub declared_type: String,
    /// The affinity.
    pub affinity: Affinity,
    /// The type in a STRICT table.
    pub strict: Option<Strict>,
    /// Whether NULL is refused.
    pub is_not_null: bool,
    /// The default expression in SQL.
    pub default: Option<String>,
    /// Whether the type was guessed from the first rows.
    pub is_guessed: bool,
    /// Whether the values of the inputs gave it its type: the first ones, or all.
    pub is_derived: bool,
    /// Whether the first rows have no value that would give it a type.
    pub is_undecided: bool,
    /// Bytes of text that a binary column stores as they are. Only longer text is decoded without `--decode`.
    pub text_bytes_max: usize,
    /// The conversion of values for a server's column, in place of the affinity.
    pub intake: Option<Arc<dyn Intake>>,
}

impl ColumnInfo {
    /// Whether text for it may be decoded to bytes.
    pub fn is_blob(&self) -> bool {
        let is_any = ["", "ANY"]
            .iter()
            .any(|any| self.declared_type.eq_ignore_ascii_case(any));
        self.affinity == Affinity::Blob && !is_any
    }
}

/// One column of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPart {
    /// The place of the column in the table.
    pub column: usize,
    /// The collation of its text.
    pub collation: Collation,
    /// Whether the order is descending.
    pub is_descending: bool,
}

impl Destination {
    /// Returns the place of a column by its name. An exact match goes before one in another letter case, which must be the
    /// only one.
    pub fn column(&self, name: &str) -> Option<usize> {
        place_of(name, self.columns.iter().map(|column| &*column.name))
    }

    /// Returns the order of records with these columns by the key; `None` if a column of the key is missing.
    pub fn order(&self, record: &[usize]) -> Option<KeyOrder> {
        self.order_by(&self.key, record)
    }

    /// Returns the order of records with these columns by other columns than the key.
    pub(crate) fn order_by(&self, key: &[KeyPart], record: &[usize]) -> Option<KeyOrder> {
        if key.is_empty() {
            return None;
        }
        let columns = key.iter().map(|part| {
            Some(KeyColumn {
                index: record.iter().position(|column| *column == part.column)?,
                collation: part.collation,
                is_descending: part.is_descending,
            })
        });
        let columns = columns.collect::<Option<Vec<_>>>()?;
        Some(KeyOrder::new(columns, self.encoding))
    }
}
