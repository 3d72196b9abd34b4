//! Writes Mango indexes into design documents, and takes them out.

use super::bulk::write_edit;
use super::{Edit, Error, Limits, Missing, Outcome, Result, row};
use crate::mango::{Error as MangoError, Index, IndexDefinition, IndexWritten, of_design, to_view};
use rusqlite::Connection;
use serde_json::{Value, json};

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
    let (mut body, revision) = match document(connection, &new.design)? {
        Some((body, revision)) => (body, Some(revision)),
        None => (json!({ "language": "query", "views": {} }), None),
    };
    if body.get("language") != Some(&json!("query")) {
        let message = "Invalid design document query language.";
        return Err(MangoError::new("invalid_index", message).into());
    }
    let view = to_view(&new.definition);
    let views = body.as_object_mut().map(|body| {
        let views = body.entry("views").or_insert_with(|| json!({}));
        views.as_object_mut()
    });
    let Some(Some(views)) = views else {
        let message = "Invalid design document: its views are no object.";
        return Err(MangoError::new("invalid_index", message).into());
    };
    let known = of_design(&new.design, &json!({ "language": "query", "views": views }));
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
    const MISSING: Error = Error::NotFound(Missing::Missing);
    let design = match design.starts_with("_design/") {
        true => design.to_owned(),
        false => format!("_design/{design}"),
    };
    let (mut body, revision) = document(connection, &design)?.ok_or(MISSING)?;
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
        Error::from(MangoError::new("error_saving_ddoc", message))
    })?;
    Ok(seq)
}

/// A document's body as a value, and its revision; none when it is not there.
fn document(connection: &Connection, id: &str) -> Result<Option<(Value, String)>> {
    let Some(document) = row::living(connection, id)? else {
        return Ok(None);
    };
    let body = serde_json::from_str(&document.body).unwrap_or_default();
    Ok(Some((body, document.revision.to_string())))
}
