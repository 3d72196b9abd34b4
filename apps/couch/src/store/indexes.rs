//! The Mango indexes of a database: listed in its design documents, built in SQLite.

use super::partition::partitioned;
use super::row::{Body, Head, Stored};
use super::{Error, Result};
use crate::mango::{DOCUMENT, Definition, Index, key_expression, of_design};
use crate::revision::{Revision, RevisionHash, Tree};
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use std::collections::BTreeMap;

/// The indexes, that of all documents first, then in the order of their design documents and names.
pub fn indexes(connection: &Connection, is_partitioned: bool) -> Result<Vec<Index>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, body FROM docs WHERE id >= '_design/' AND id < '_design0' AND deleted = 0 ORDER BY id",
    )?;
    let mut rows = statement.query([])?;
    let mut indexes = vec![Index::all_docs()];
    while let Some(row) = rows.next()? {
        let (id, body): (String, String) = (row.get(0)?, row.get(1)?);
        // Most design documents have nothing to do with this.
        if body.contains("\"query\"")
            && let Ok(body) = serde_json::from_str(&body)
        {
            indexes.extend(of_design(&id, &body, is_partitioned));
        }
    }
    let place = |index: &Index| index.place.clone();
    indexes.sort_by_key(place);
    Ok(indexes)
}

/// Makes SQLite's indexes follow the design documents, of which one has changed.
pub fn follow_designs(connection: &Connection) -> Result<()> {
    let wanted: BTreeMap<String, Definition> = indexes(connection, partitioned(connection)?)?
        .into_iter()
        .filter(|index| index.place.is_some())
        .map(|index| (index.definition.sqlite_name(), index.definition))
        .collect();
    let mut statement = connection.prepare_cached(
        "SELECT name FROM sqlite_schema WHERE type = 'index' AND name GLOB 'mango_*'",
    )?;
    let names = statement.query_map([], |row| row.get(0))?;
    let built: Vec<String> = names.collect::<rusqlite::Result<_>>()?;
    drop(statement);
    for name in built.iter().filter(|name| !wanted.contains_key(*name)) {
        connection.execute_batch(&format!("DROP INDEX \"{name}\""))?;
    }
    for (name, definition) in wanted {
        if !built.contains(&name) {
            let key = key_expression(&definition);
            connection.execute_batch(&format!(
                "CREATE INDEX \"{name}\" ON docs({key}, id) WHERE deleted = 0 AND {key} IS NOT NULL"
            ))?;
        }
    }
    Ok(())
}

/// Adds the function that gives an index the whole document, with its conflicts and attachments.
pub fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function(DOCUMENT, 6, flags, |context| {
        document(context).map_err(|error| rusqlite::Error::UserFunctionError(Box::new(error)))
    })
}

fn document(context: &Context<'_>) -> Result<String> {
    let hash: Vec<u8> = context.get(2)?;
    let unnamed = || Error::Failed("a revision has no name".to_owned());
    let tree = context
        .get_raw(3)
        .as_blob()
        .map_err(rusqlite::Error::from)?;
    let stored = Stored {
        head: Head {
            seq: 0,
            id: context.get(0)?,
            deleted: false,
            revision: Revision {
                generation: context.get::<i64>(1)? as u64,
                hash: RevisionHash::from_bytes(&hash).ok_or_else(unnamed)?,
            },
        },
        tree: Tree::decode(tree)?,
        external_bytes: 0,
    };
    let body = Body {
        atts: context.get(4)?,
        text: context.get(5)?,
    };
    Ok(stored.as_indexed(body)?.to_json())
}
