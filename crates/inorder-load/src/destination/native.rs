//! The columns of a table that a load creates on a server.

use inorder_engine::{ColumnKind, NewColumn, NewForeignKey, NewTable};
use inorder_key::{Encoding, KeyKind};

use super::forms::Forms;
use super::{Create, Sample};
use crate::Error;

impl Sample {
    /// The kind of a server's column for the values at this place.
    ///
    /// # Errors
    /// If SQLite can't be opened for its conversions.
    pub(crate) fn kind(&self, place: usize) -> rusqlite::Result<ColumnKind> {
        let mut forms = Forms::default();
        for row in &self.rows {
            forms.add(row.given(place));
        }
        Ok(forms.kind(&self.derived(place)?.kind))
    }
}

impl Create {
    /// The table to create on a server, for an input whose first rows are these.
    ///
    /// # Errors
    /// Those of [`Create::sql`].
    pub(crate) fn new_table(&self, sample: &Sample) -> Result<NewTable, Error> {
        self.check(sample)?;
        let made = self.key.iter().filter_map(|key| {
            let (kind, encoding) = key.made?;
            Some(NewColumn {
                name: key.column.clone(),
                kind: ColumnKind::Id(kind, stored_as(kind, encoding)),
            })
        });
        let mut columns: Vec<NewColumn> = made.collect();
        for (name, place) in self.columns(sample) {
            columns.push(NewColumn {
                kind: self.kind_of(name, place, sample)?,
                name: name.to_owned(),
            });
        }
        let foreign_key = |key: &super::ForeignKey| NewForeignKey {
            column: key.column.clone(),
            parent: key.parent.clone(),
            parent_column: key.parent_column.clone(),
        };
        Ok(NewTable {
            columns,
            key: self.key.iter().map(|key| key.column.clone()).collect(),
            indexes: self.indexes.clone(),
            foreign_keys: self.foreign_keys.iter().map(foreign_key).collect(),
        })
    }

    /// The kind of a new column of a server.
    ///
    /// # Errors
    /// If SQLite can't be opened for its conversions.
    pub(crate) fn kind_of(
        &self,
        name: &str,
        place: Option<usize>,
        sample: &Sample,
    ) -> Result<ColumnKind, Error> {
        if let Some((_, declared)) = self.types.iter().find(|(column, _)| column == name) {
            return Ok(ColumnKind::Declared(declared.clone()));
        }
        if let Some(found) = self.found(name) {
            return Ok(found.kind.clone());
        }
        let Some(place) = place else {
            return Ok(ColumnKind::Text);
        };
        sample.kind(place).map_err(|error| Error::Create {
            what: format!("column `{name}`: {error}"),
        })
    }
}

/// The encoding that a server's column has for ids of this kind.
fn stored_as(kind: KeyKind, encoding: Encoding) -> Encoding {
    match kind {
        KeyKind::Serial => Encoding::Integer,
        _ => encoding,
    }
}
