//! What a table contains, as a number that doesn't depend on the order of its rows.

use std::hash::{DefaultHasher, Hash, Hasher};

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::IdForm;
use crate::apply::ids;
use crate::ddl::{Catalog, quoted};

/// How many rows a table has, and the sum of their hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Content {
    pub(crate) rows: u64,
    hash: u128,
}

/// How rows are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading<'a> {
    /// Columns whose ids are read as the blobs that they become.
    pub(crate) conversions: &'a [(String, IdForm)],
    /// Whether the rowid counts.
    pub(crate) has_rowid: bool,
}

impl Content {
    /// Reads a table whole: storage class and bytes of every value. Generated columns are among them, unless one
    /// needs a function of the application.
    ///
    /// # Errors
    /// SQLite's.
    pub(crate) fn read(
        connection: &Connection,
        table: &str,
        reading: Reading<'_>,
    ) -> rusqlite::Result<Self> {
        let mut catalog = Catalog::read(connection, table)?;
        let all = format!("SELECT * FROM main.{}", quoted(table));
        if connection.prepare(&all).is_err() {
            catalog.columns.retain(|column| column.hidden != 2);
        }
        let columns = catalog.columns.iter().filter(|column| column.hidden != 1);
        let mut forms: Vec<Option<IdForm>> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for column in columns {
            let conversion = reading
                .conversions
                .iter()
                .find(|(name, _)| *name == column.name);
            forms.push(conversion.map(|(_, form)| *form));
            names.push(quoted(&column.name));
        }
        let rowid = catalog
            .rowid_name()
            .filter(|_| reading.has_rowid && !catalog.is_without_rowid);
        names.extend(rowid.map(str::to_owned));
        forms.push(None);
        let select = format!("SELECT {} FROM main.{}", names.join(", "), quoted(table));
        let mut statement = connection.prepare(&select)?;
        let mut rows = statement.query([])?;
        let mut content = Content::default();
        while let Some(row) = rows.next()? {
            let mut hashers = [DefaultHasher::new(), DefaultHasher::new()];
            hashers[1].write_u8(1);
            for (at, form) in forms.iter().enumerate().take(names.len()) {
                let value = row.get_ref(at)?;
                for hasher in &mut hashers {
                    add(hasher, value, *form);
                }
            }
            let [high, low] = hashers.map(|hasher| u128::from(hasher.finish()));
            content.rows += 1;
            content.hash = content.hash.wrapping_add(high << 64 | low);
        }
        Ok(content)
    }
}

fn add(hasher: &mut DefaultHasher, value: ValueRef<'_>, form: Option<IdForm>) {
    match (value, form) {
        (ValueRef::Null, _) => 0u8.hash(hasher),
        (ValueRef::Integer(integer), _) => (1u8, integer).hash(hasher),
        (ValueRef::Real(real), _) => (2u8, real.to_bits()).hash(hasher),
        (ValueRef::Text(text), Some(form)) => match ids::to_blob(text, form) {
            Some(blob) => (4u8, &blob[..]).hash(hasher),
            None => (3u8, text).hash(hasher),
        },
        (ValueRef::Text(text), None) => (3u8, text).hash(hasher),
        (ValueRef::Blob(blob), _) => (4u8, blob).hash(hasher),
    }
}
