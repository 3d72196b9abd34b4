//! The Mango indexes of a database: listed in its design documents, built in SQLite.

use super::Result;
use crate::mango::{Definition, Index, key_expression, of_design};
use rusqlite::Connection;
use std::collections::BTreeMap;

/// The indexes, that of all documents first, then in the order of their design documents and names.
pub fn indexes(connection: &Connection) -> Result<Vec<Index>> {
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
            indexes.extend(of_design(&id, &body));
        }
    }
    let place = |index: &Index| index.place.clone();
    indexes.sort_by_key(place);
    Ok(indexes)
}

/// Makes SQLite's indexes follow the design documents, of which one has changed.
pub fn follow_designs(connection: &Connection) -> Result<()> {
    let wanted: BTreeMap<String, Definition> = indexes(connection)?
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
