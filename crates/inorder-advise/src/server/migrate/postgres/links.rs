//! The foreign keys over columns that get another type.

use super::{change::Change, temporary};
use crate::server::{
    migrate::Context,
    model::{ForeignKey, Table},
};

/// A foreign key that goes over to the new columns.
pub(super) struct Link<'d> {
    pub key: &'d ForeignKey,
    pub child: &'d Table,
    pub parent: &'d Table,
    /// Its name until it has the old one's.
    pub new: String,
}

impl Link<'_> {
    /// Whether all rows follow it.
    pub fn is_valid(&self) -> bool {
        !self.key.definition.ends_with("NOT VALID")
    }
}

/// The foreign keys over columns that change.
pub(super) fn links<'d>(
    context: Context<'d>,
    changes: &[Change<'d>],
) -> Result<Vec<Link<'d>>, String> {
    let mut links = Vec::new();
    for change in changes {
        for key in &change.table.foreign_keys {
            if !key.columns.iter().any(|column| change.changes(column)) {
                continue;
            }
            let end = end(key)?;
            if end.contains('(') {
                return Err(format!(
                    "the foreign key {} sets some of its columns",
                    key.name
                ));
            }
            links.push(Link {
                key,
                child: change.table,
                parent: context.table(&key.parent_schema, &key.parent)?,
                new: temporary(&key.name, links.len()),
            });
        }
    }
    Ok(links)
}

/// What follows the columns in a foreign key's definition: its actions and when it is checked.
pub(super) fn end(key: &ForeignKey) -> Result<&str, String> {
    let (mut is_quoted, mut closed) = (false, 0);
    for (at, letter) in key.definition.char_indices() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ')' if !is_quoted => closed += 1,
            _ => {}
        }
        if closed == 2 {
            let end = &key.definition[at + 1..];
            return Ok(end.trim_end().trim_end_matches("NOT VALID").trim_end());
        }
    }
    Err(format!(
        "the foreign key {} is written in an unknown way",
        key.name
    ))
}
