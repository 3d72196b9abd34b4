//! SQL functions that compute the keys of an index.

use super::Selector;
use super::collate;
use super::index::Definition;
use super::path::Path;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};
use serde_json::Value;

/// `mango_key(definition, id, gen, hash, body)`: the key of a document in an index, a blob; NULL when the index does not hold
/// the document. The definition is the text of its JSON.
pub const KEY: &str = "mango_key";

/// `mango_document(id, gen, hash, tree, atts, body)`: the document with its conflicts and attachments, for indexes on these.
pub const DOCUMENT: &str = "mango_document";

/// Adds [`KEY`] to a connection.
pub fn register(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function(KEY, 5, flags, key)
}

/// The key of an index as an expression on the columns of a document.
pub fn key_expression(definition: &Definition) -> String {
    let body = match definition.is_on_special_fields() {
        true => format!("{DOCUMENT}(id, gen, hash, tree, atts, body)"),
        false => "body".to_owned(),
    };
    let definition = definition.to_text().replace('\'', "''");
    format!("{KEY}('{definition}', id, gen, hash, {body})")
}

fn key(context: &Context<'_>) -> Result<Option<Vec<u8>>> {
    let wrong =
        |error: Box<dyn std::error::Error + Send + Sync>| rusqlite::Error::UserFunctionError(error);
    let definition = context.get_or_create_aux(0, |definition: ValueRef<'_>| {
        Definition::from_text(definition.as_str()?)
            .map_err(Box::<dyn std::error::Error + Send + Sync>::from)
    })?;
    let text = |index: usize| context.get_raw(index).as_str();
    let (id, body) = (
        text(1).map_err(|error| wrong(error.into()))?,
        text(4).map_err(|error| wrong(error.into()))?,
    );
    let revision = || revision(context.get_raw(2), context.get_raw(3));
    Ok(key_of(&definition, id, revision, body))
}

fn revision(generation: ValueRef<'_>, hash: ValueRef<'_>) -> Option<String> {
    let generation = generation.as_i64().ok()?;
    let hash = crate::revision::RevisionHash::from_bytes(hash.as_blob().ok()?)?;
    Some(format!("{generation}-{hash}"))
}

fn key_of(
    definition: &Definition,
    id: &str,
    revision: impl Fn() -> Option<String>,
    body: &str,
) -> Option<Vec<u8>> {
    if id.starts_with("_design/") {
        return None;
    }
    if let Some(partial) = &definition.partial {
        let special = || Some((id, revision()?));
        if !matches(&partial.selector, body, special)? {
            return None;
        }
    }
    let mut key = Vec::new();
    if definition.is_partitioned {
        key = partition_key(id.split_once(':')?.0);
    }
    for field in &definition.fields.fields {
        let value = match field.as_str() {
            "_id" => Value::from(id),
            "_rev" => Value::from(revision()?),
            _ => field_value(field, body)?,
        };
        collate::write_key(&mut key, &value);
    }
    Some(key)
}

/// The first bytes of the keys of a partition.
pub fn partition_key(partition: &str) -> Vec<u8> {
    let length = u32::try_from(partition.len()).unwrap_or(u32::MAX);
    [&length.to_be_bytes(), partition.as_bytes()].concat()
}

fn field_value(field: &Path, body: &str) -> Option<Value> {
    let text = field.find_text(body).ok()??;
    serde_json::from_str(text).ok()
}

fn matches<'a>(
    selector: &Selector,
    body: &str,
    special: impl Fn() -> Option<(&'a str, String)>,
) -> Option<bool> {
    let mut value: Value = serde_json::from_str(body).ok()?;
    if let (Value::Object(members), Some((id, revision))) = (&mut value, special()) {
        members.insert("_id".to_owned(), id.into());
        members.insert("_rev".to_owned(), revision.into());
    }
    Some(selector.matches_value(&value))
}
