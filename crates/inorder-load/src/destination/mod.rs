//! The table that rows go into, as far as a loader has to know it.

mod create;
mod sample;
mod sqlite;

use std::sync::Arc;

use inorder_btree::{Collation, KeyColumn, KeyOrder, TextEncoding};
use inorder_engine::Intake;

use crate::encode::{Affinity, Strict};

pub use create::{Create, KeySpec};
pub use sample::Sample;
pub use sqlite::describe;
pub(crate) use sqlite::unique_key;

/// A table.
#[derive(Clone, Debug)]
pub struct Destination {
    /// Its name.
    pub table: String,
    /// Its columns that can be given a value, in the order they are declared.
    pub columns: Vec<ColumnInfo>,
    /// The order in which a record has the columns: a WITHOUT ROWID table's key comes first.
    pub physical: Vec<usize>,
    /// What rows are kept in order by; empty where the engine counts, or nobody knows.
    pub key: Vec<KeyPart>,
    /// The column that is another name of the rowid.
    pub rowid: Option<usize>,
    /// Whether no two rows may have the same key.
    pub is_key_unique: bool,
    /// The encoding of its text.
    pub encoding: TextEncoding,
    /// Bytes of a page of its database, where that is known.
    pub page_bytes: Option<u64>,
}

/// A column.
#[derive(Clone, Debug)]
pub struct ColumnInfo {
    /// Its name.
    pub name: String,
    /// Its declared type, as written.
    pub declared_type: String,
    /// What its values become.
    pub affinity: Affinity,
    /// Whether the type is one of a STRICT table.
    pub strict: Option<Strict>,
    /// Whether NULL is refused.
    pub is_not_null: bool,
    /// The expression that it has by default, in SQL.
    pub default: Option<String>,
    /// Whether its type was guessed from a sample.
    pub is_guessed: bool,
    /// Bytes of text that a column of bytes takes as it is: only longer text may stand for bytes without being said.
    pub text_bytes_max: usize,
    /// How a column of a server takes values, in place of the affinity.
    pub intake: Option<Arc<dyn Intake>>,
}

impl ColumnInfo {
    /// Whether text given for it may stand for bytes.
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
    /// Which column, by its place among those of the table.
    pub column: usize,
    /// How its text is compared.
    pub collation: Collation,
    /// Whether large values come first.
    pub is_descending: bool,
}

impl Destination {
    /// The place of the column with this name; where there is none, in whatever case.
    pub fn column(&self, name: &str) -> Option<usize> {
        let has_name = |column: &ColumnInfo| column.name == name;
        let is_named = |column: &ColumnInfo| column.name.eq_ignore_ascii_case(name);
        let exact = self.columns.iter().position(has_name);
        exact.or_else(|| self.columns.iter().position(is_named))
    }

    /// The order of records that have these columns; `None` where one of the key isn't among them: then
    /// the engine fills it, and the order of the input is the best there is.
    pub fn order(&self, record: &[usize]) -> Option<KeyOrder> {
        self.order_by(&self.key, record)
    }

    /// The same by other columns than those of the key.
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
