//! The table `sqlite_schema`.

use crate::error::Result;
use crate::output::{Output, SCHEMA_ROOT};
use crate::record::{TextEncoding, Value, encode};
use crate::table::TableTree;

/// A row of `sqlite_schema`. Source: <https://www.sqlite.org/schematab.html>.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaEntry {
    /// `table`, `index`, `view` or `trigger`.
    pub kind: String,
    /// The object's name.
    pub name: String,
    /// The table that the object belongs to; for a table, itself.
    pub table_name: String,
    /// The root page, as `finish` of the tree returned it; 0 for objects without a tree.
    pub root: u32,
    /// The `CREATE` statement; `None` for the index of a PRIMARY KEY or UNIQUE constraint.
    pub sql: Option<String>,
}

/// Writes the table, whose root is the first page.
pub(crate) fn write(
    entries: &[SchemaEntry],
    encoding: TextEncoding,
    output: &mut Output,
) -> Result<()> {
    let mut table = TableTree::new(SCHEMA_ROOT, output.geometry());
    let (mut texts, mut record) = (Vec::new(), Vec::new());
    for (entry, rowid) in entries.iter().zip(1..) {
        texts.clear();
        let mut ends = [0; 4];
        let sql = entry.sql.as_deref().unwrap_or_default();
        let fields = [&entry.kind, &entry.name, &entry.table_name, sql];
        for (field, end) in fields.into_iter().zip(&mut ends) {
            encoding.encode(field.as_bytes(), &mut texts);
            *end = texts.len();
        }
        let text = |i: usize| Value::Text(&texts[if i == 0 { 0 } else { ends[i - 1] }..ends[i]]);
        let root = Value::Integer(i64::from(entry.root));
        let sql = if entry.sql.is_some() {
            text(3)
        } else {
            Value::Null
        };
        record.clear();
        encode(&[text(0), text(1), text(2), root, sql], &mut record);
        table.push(rowid, &record, output)?;
    }
    table.finish(output).map(drop)
}
