//! Writes Mango indexes into design documents, and takes them out.

use super::bulk::write_edit;
use super::{Edit, Error, Limits, Missing, Outcome, Result, row};
use crate::mango::{Error as MangoError, Index, IndexDefinition, IndexWritten, of_design, to_view};
use rusqlite::Connection;
use serde_json::{Value, json};

/// Writes an index into its design document; the sequence of the change if there was one.
pub fn create_index(
    connection: &Connection,
    is_partitioned: bool,
    new: &IndexDefinition,
) -> Result<(IndexWritten, Option<u64>)> {
    let mut written = IndexWritten {
        id: new.design.clone(),
        name: new.name.clone(),
        created: true,
    };
    let (mut body, revision) = match document(connection, &new.design)? {
        Some((body, revision)) => (body, Some(revision)),
        None => (json!({ "language": "query" }), None),
    };
    let options = new_options(&body, new, revision.is_none(), is_partitioned)?;
    let language = body.get("language");
    if language != Some(&json!("query")) {
        let message = format!(
            "Existing design doc has an invalid language: {}",
            language.unwrap_or(&Value::Null)
        );
        return Err(MangoError::new("invalid_ddoc_lang", message).into());
    }
    let view = to_view(new);
    let views = body.as_object_mut().map(|body| {
        let views = body.entry("views").or_insert_with(|| json!({}));
        if !views.is_object() {
            *views = json!({});
        }
        views
    });
    let views = views.and_then(Value::as_object_mut);
    let views = views.ok_or_else(|| Error::Failed("a document is no object".to_owned()))?;
    let known = of_design(
        &new.design,
        &json!({ "language": "query", "views": views }),
        false,
    );
    let is_same = |index: &Index| {
        let name = index.place.as_ref().map(|(_, name)| name);
        name == Some(&new.name) && index.definition.digest() == new.definition.digest()
    };
    if known.iter().any(is_same) {
        written.created = false;
        return Ok((written, None));
    }
    views.insert(new.name.clone(), view);
    if let Some(options) = options {
        // Behind the views, where CouchDB has it: revisions are the same.
        body["options"] = options;
    }
    let seq = save(connection, &new.design, revision, &body, false)?;
    Ok((written, Some(seq)))
}

/// The new options of a design document. They say whether its indexes are of partitions, the same for all of them.
fn new_options(
    body: &Value,
    new: &IndexDefinition,
    is_new: bool,
    is_partitioned_database: bool,
) -> Result<Option<Value>> {
    let invalid = |message: String| MangoError::new("invalid_partitioned_option", message);
    let known = body["options"]["partitioned"].as_bool();
    if new.partitioned == known {
        return Ok(None);
    }
    match new.partitioned {
        Some(wanted) if is_new => {
            if wanted && !is_partitioned_database {
                let message = "partitioned option cannot be true in a non-partitioned database.";
                return Err(Error::BadRequest(message.to_owned()));
            }
            Ok(Some(json!({ "partitioned": wanted })))
        }
        None if is_new => Ok(None),
        _ => Err(invalid(format!(
            "Requested partitioned option does not match existing value on design document {}",
            new.design
        ))
        .into()),
    }
}

/// Takes an index out of its design document, which goes with its last one if it has nothing else.
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
    let known = of_design(&design, &body, false);
    let is_meant = |index: &Index| index.place.as_ref().is_some_and(|(_, known)| known == name);
    if !known.iter().any(is_meant) {
        return Err(MISSING);
    }
    let members = body.as_object_mut().ok_or(MISSING)?;
    let views = members.get_mut("views").and_then(Value::as_object_mut);
    let views = views.ok_or(MISSING)?;
    views.shift_remove(name);
    if views.is_empty() {
        members.shift_remove("views");
    }
    let is_rest = body == json!({ "language": "query" });
    if is_rest {
        body = json!({});
    }
    let seq = save(connection, &design, Some(revision), &body, is_rest)?;
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
