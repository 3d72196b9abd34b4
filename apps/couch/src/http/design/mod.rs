//! Functions of design documents that answer requests: `_show`, `_list`, `_update` and `_rewrite`.

mod list;
mod respond;
mod rewrite;
mod rules;
mod show;
mod update;

pub use list::{list, list_of};
pub use rewrite::rewrite;
pub use show::show;
pub use update::update;

use super::caller::Caller;
use super::functions::owner;
use super::{HttpError, HttpResult};
use crate::script::{Function, Purpose};
use crate::store::{Database, Document, Error, GetOptions, Missing};
use axum::body::Body;
use axum::http::request::Parts;
use percent_encoding::percent_decode_str;
use serde_json::Value;

/// A function of a design document, and the revision of that document.
struct Loaded {
    design: Document,
    function: Function,
}

/// The path of a request after the database, decoded: `_design`, the name, the kind, the function, the rest.
fn path(head: &Parts) -> Vec<String> {
    let decode = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
    head.uri.path().split('/').skip(2).map(decode).collect()
}

fn missing_key(name: &str) -> HttpError {
    HttpError::NotFound(format!("missing json key: {name}"))
}

/// Reads a design document.
fn design(db: &Database, name: &str) -> HttpResult<(Document, Value)> {
    let design = db.get(&format!("_design/{name}"), &GetOptions::default())?;
    let body = serde_json::from_str(&design.body)
        .map_err(|error| HttpError::Internal(error.to_string()))?;
    Ok((design, body))
}

/// Reads a function of a design document.
fn load(db: &Database, name: &str, section: &str, function: &str) -> HttpResult<Loaded> {
    let (design, body) = design(db, name)?;
    let section_body = body.get(section).ok_or_else(|| missing_key(section))?;
    let source = section_body.get(function).and_then(Value::as_str);
    let source = source.ok_or_else(|| missing_key(function))?.to_owned();
    let function = Function::new(source, design.body.clone());
    Ok(Loaded { design, function })
}

/// Reads the document that a function is called with. Returns none if there is no such document.
fn document(db: &Database, id: &str) -> HttpResult<Option<Document>> {
    let options = GetOptions {
        conflicts: true,
        revs: true,
        ..GetOptions::default()
    };
    match db.get(id, &options) {
        Ok(document) => Ok(Some(document)),
        Err(Error::NotFound(Missing::Missing | Missing::Deleted)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Calls a function. Its answer must be an object.
async fn call(
    caller: &Caller,
    db: &Database,
    function: &Function,
    kind: &str,
    request: &Value,
    input: &str,
) -> HttpResult<Value> {
    let scripts = &caller.server.scripts;
    let owner = owner(db, Purpose::Read);
    let request = request.to_string();
    let mut answer = scripts
        .render(&owner, function, kind, &request, input)
        .await?;
    match answer["error"].take() {
        Value::Null => Ok(answer),
        error => {
            let text = |at: usize| error[at].as_str().unwrap_or_default().to_owned();
            Err(HttpError::Function(text(0), text(1)))
        }
    }
}

/// Returns the body of a request in the form for functions.
async fn body_of(caller: &Caller, body: Body) -> HttpResult<Option<Value>> {
    let server = &caller.server;
    let received = super::body::collect(body, server.body_bytes_max(), &server.body_memory).await?;
    if received.is_empty() {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&received).into()))
}
