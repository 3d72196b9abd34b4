//! The table `sqlite_schema`, which says what a file's trees are.

use crate::builder::Builder;
use crate::error::Result;
use crate::output::SCHEMA_ROOT;
use crate::record::{Value, encode};
use crate::table::TableBuilder;

/// A row of `sqlite_schema`. Source: <https://www.sqlite.org/schematab.html>.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaEntry {
    /// `table`, `index`, `view` or `trigger`.
    pub kind: String,
    /// The object's name.
    pub name: String,
    /// The name of the table it belongs to, a table's own.
    pub table_name: String,
    /// The root page that building the tree gave; 0 where there is no tree.
    pub root: u32,
    /// The statement that makes it; none for the index of a key or a UNIQUE constraint.
    pub sql: Option<String>,
}

/// Writes the table, which takes the first page.
pub(crate) fn write(entries: &[SchemaEntry], builder: Builder) -> Result<Builder> {
    let encoding = builder.encoding();
    let mut table = TableBuilder::new(builder, SCHEMA_ROOT);
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
        table.push(rowid, &record)?;
    }
    Ok(table.finish()?.0)
}
