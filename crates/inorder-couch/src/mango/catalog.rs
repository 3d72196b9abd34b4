//! The indexes of a database: in its design documents, and in SQLite.

use super::functions::key_expression;
use super::index::{self, Definition, Index, IndexDefinition, IndexWritten};
use super::{Error, find};
use crate::store::{Edit, Error as StoreError, Limits, Missing, Outcome, Result, write_edit};
use rusqlite::Connection;
use serde_json::{Value, json};
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
            indexes.extend(index::of_design(&id, &body));
        }
    }
    let place = |index: &Index| index.place.clone();
    indexes.sort_by_key(place);
    Ok(indexes)
}

/// Makes SQLite's indexes follow the design documents, of which one has changed.
pub fn design_changed(connection: &Connection) -> Result<()> {
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

/// Writes an index into its design document; the sequence of the change if there was one.
pub fn create_index(
    connection: &Connection,
    new: &IndexDefinition,
) -> Result<(IndexWritten, Option<u64>)> {
    let mut written = IndexWritten {
        id: new.design.clone(),
        name: new.name.clone(),
        created: true,
    };
    let (mut body, revision) = match find::document(connection, &new.design)? {
        Some((body, revision)) => (body, Some(revision)),
        None => (json!({ "language": "query", "views": {} }), None),
    };
    if body.get("language") != Some(&json!("query")) {
        let message = "Invalid design document query language.";
        return Err(Error::new("invalid_index", message).into());
    }
    let view = index::to_view(&new.definition);
    let views = body.as_object_mut().map(|body| {
        let views = body.entry("views").or_insert_with(|| json!({}));
        views.as_object_mut()
    });
    let Some(Some(views)) = views else {
        let message = "Invalid design document: its views are no object.";
        return Err(Error::new("invalid_index", message).into());
    };
    let known = index::of_design(&new.design, &json!({ "language": "query", "views": views }));
    let is_same = |index: &Index| {
        index
            .place
            .as_ref()
            .is_some_and(|(_, name)| *name == new.name)
            && index.definition.digest() == new.definition.digest()
    };
    if known.iter().any(is_same) {
        written.created = false;
        return Ok((written, None));
    }
    views.insert(new.name.clone(), view);
    let seq = save(connection, &new.design, revision, &body, false)?;
    Ok((written, Some(seq)))
}

/// Takes an index out of its design document, which goes with its last one.
pub fn delete_index(
    connection: &Connection,
    design: &str,
    name: &str,
) -> Result<((), Option<u64>)> {
    const MISSING: StoreError = StoreError::NotFound(Missing::Missing);
    let design = match design.starts_with("_design/") {
        true => design.to_owned(),
        false => format!("_design/{design}"),
    };
    let (mut body, revision) = find::document(connection, &design)?.ok_or(MISSING)?;
    let views = body.get_mut("views").and_then(Value::as_object_mut);
    let views = views.ok_or(MISSING)?;
    views.shift_remove(name).ok_or(MISSING)?;
    let is_last = views.is_empty();
    let seq = save(connection, &design, Some(revision), &body, is_last)?;
    Ok(((), Some(seq)))
}

fn save(
    connection: &Connection,
    design: &str,
    revision: Option<String>,
    body: &Value,
    deleted: bool,
) -> Result<u64> {
    let limits = Limits::default();
    let mut edit = Edit::from_json(&body.to_string(), &limits)?;
    edit.id = Some(design.to_owned());
    edit.history = revision
        .map(|revision| revision.parse::<crate::revision::Revision>())
        .transpose()?
        .map(Into::into);
    edit.deleted = deleted;
    let (outcome, seq): (Outcome, u64) = write_edit(connection, edit, &limits)?;
    outcome.map_err(|refusal| {
        let message = format!("Unknown error while saving the design document: {refusal}");
        StoreError::from(Error::new("error_saving_ddoc", message))
    })?;
    Ok(seq)
}
