//! Validates design documents: their members have the types that CouchDB demands, and their views compile.
//!
//! Source: `couch_mrview:validate`.

use super::functions::owner;
use crate::script::{Function, Purpose, ScriptError, Scripts};
use crate::store::{Database, Edit, Refusal};
use crate::views::Design;
use serde_json::{Map, Value, json};

/// Members whose values are objects of functions, or of objects of functions.
const FUNCTIONS: &[&str] = &["filters", "lists", "shows", "updates"];

/// The default language of a design document.
const JAVASCRIPT: &str = "javascript";

/// The language of design documents with Mango indexes.
const QUERY: &str = "query";

/// Checks an edit of a design document as CouchDB does.
///
/// # Errors
/// If the design document is invalid, or its functions cannot be compiled now.
pub async fn check(scripts: &Scripts, db: &Database, edit: &Edit) -> Result<(), Refusal> {
    let id = edit.id.as_deref().unwrap_or_default();
    if !id.starts_with("_design/") {
        return Ok(());
    }
    let body: Map<String, Value> = serde_json::from_str(edit.body()).unwrap_or_default();
    check_types(&body).map_err(Refusal::InvalidDesign)?;
    let option = &body.get("options").unwrap_or(&Value::Null)["partitioned"];
    if *option == json!(true) && !db.is_partitioned() {
        let reason = "partitioned option cannot be true in a non-partitioned database.";
        return Err(Refusal::InvalidDesign(reason.to_owned()));
    }
    let language = language(&body);
    if language != JAVASCRIPT && language != QUERY {
        return Ok(());
    }
    let design = Design::read(&body, db.is_partitioned())
        .map_err(|error| Refusal::InvalidDesign(error.to_string()))?;
    if language == QUERY || design.views.is_empty() {
        return Ok(());
    }
    match compiled(scripts, db, &design.function).await {
        Err(ScriptError::Compile(_)) => Err(culprit(scripts, db, &body).await),
        Err(error @ ScriptError::Busy) => Err(Refusal::Busy(error.to_string())),
        Err(error @ ScriptError::Timeout(_)) => Err(Refusal::Stopped(error.to_string())),
        Err(error) => Err(Refusal::Failed(error.to_string())),
        Ok(()) => Ok(()),
    }
}

fn language(body: &Map<String, Value>) -> &str {
    let language = body.get("language").and_then(Value::as_str);
    language.unwrap_or(JAVASCRIPT)
}

/// Checks the types of the members. The error is CouchDB's.
fn check_types(body: &Map<String, Value>) -> Result<(), String> {
    for name in FUNCTIONS {
        let functions = object(body, name)?;
        for (function, value) in functions {
            let path = format!("{name}.{function}");
            require(
                &path,
                value.is_string() || value.is_object(),
                "string or object",
            )?;
        }
    }
    for name in ["language", "validate_doc_update"] {
        require(name, body.get(name).is_none_or(Value::is_string), "string")?;
    }
    let options = object(body, "options")?;
    let partitioned = options.get("partitioned");
    require(
        "options.partitioned",
        partitioned.is_none_or(Value::is_boolean),
        "boolean",
    )?;
    let rewrites = body.get("rewrites");
    let is_known = |value: &Value| value.is_array() || value.is_string();
    require("rewrites", rewrites.is_none_or(is_known), "array or string")?;
    let is_query = language(body) == QUERY;
    for (name, view) in object(body, "views")? {
        check_view(&name, &view, is_query)?;
    }
    Ok(())
}

fn check_view(name: &str, view: &Value, is_query: bool) -> Result<(), String> {
    let path = format!("views.{name}");
    require(&path, view.is_object(), "object")?;
    if name == "lib" {
        return Ok(());
    }
    let Some(map) = view.get("map") else {
        return Err(format!("View `{name}` must contain map function"));
    };
    match is_query {
        true => require(&format!("{path}.map"), map.is_object(), "object")?,
        false => require(&format!("{path}.map"), map.is_string(), "string")?,
    }
    let reduce = view.get("reduce");
    require(
        &format!("{path}.reduce"),
        reduce.is_none_or(Value::is_string),
        "string",
    )
}

/// Returns a member, which must be an object if it exists.
fn object(body: &Map<String, Value>, name: &str) -> Result<Map<String, Value>, String> {
    match body.get(name) {
        None => Ok(Map::new()),
        Some(Value::Object(members)) => Ok(members.clone()),
        Some(_) => require(name, false, "object").map(|()| Map::new()),
    }
}

fn require(path: &str, holds: bool, kind: &str) -> Result<(), String> {
    match holds {
        true => Ok(()),
        false => Err(format!("`{path}` field must have {kind} type")),
    }
}

/// Compiles the functions of views by calling them with no document.
async fn compiled(
    scripts: &Scripts,
    db: &Database,
    function: &Function,
) -> Result<(), ScriptError> {
    let owner = owner(db, Purpose::Index);
    let answers = scripts.index(&owner, function, &["[]"], None).await;
    answers.into_iter().try_for_each(|answer| answer.map(drop))
}

/// Returns the refusal of the first function that cannot be compiled.
async fn culprit(scripts: &Scripts, db: &Database, body: &Map<String, Value>) -> Refusal {
    let views = body.get("views").and_then(Value::as_object);
    for (name, view) in views.into_iter().flatten() {
        for kind in ["map", "reduce"] {
            let Some(source) = view[kind].as_str() else {
                continue;
            };
            // The names of built-in reduce functions are no sources.
            if name == "lib" || (kind == "reduce" && source.starts_with('_')) {
                continue;
            }
            let source_of_all = match kind {
                "map" => json!({ "maps": [source], "reduces": [] }),
                _ => json!({ "maps": [], "reduces": [source] }),
            };
            let function = Function::views(source_of_all.to_string(), "{}".to_owned());
            if let Err(ScriptError::Compile(reason)) = compiled(scripts, db, &function).await {
                return Refusal::Uncompiled(format!(
                    "Compilation of the {kind} function in the '{name}' view failed: {reason} ({source})"
                ));
            }
        }
    }
    Refusal::Uncompiled("The functions of the views can't be compiled together.".to_owned())
}
