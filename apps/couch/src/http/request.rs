//! The request object for functions of design documents.
//!
//! Source: `chttpd_external:json_req_obj`. As by CouchDB's default, it has neither cookies nor credentials.

use super::HttpResult;
use super::caller::Caller;
use super::info::info_json;
use super::params::Params;
use crate::store::{Database, new_id};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

/// Headers with credentials.
const SCRUBBED: &[&str] = &[
    "authorization",
    "cookie",
    "x-auth-couchdb-username",
    "x-auth-couchdb-roles",
    "x-auth-couchdb-token",
];

/// Parameters whose values are JSON.
const JSON_PARAMETERS: &[&str] = &["startkey", "endkey", "key", "descending"];

/// Builds the request object. `body` is none for a request without a body.
///
/// # Errors
/// If the database cannot be read.
pub fn request_object(
    caller: &Caller,
    db: &Database,
    head: &Parts,
    id: Option<&str>,
    body: Option<Value>,
) -> HttpResult<Value> {
    let security = db.security()?;
    let decode = |part: &str| Value::from(percent_decode_str(part).decode_utf8_lossy());
    let parts = head.uri.path().split('/').filter(|part| !part.is_empty());
    let path: Vec<Value> = parts.map(decode).collect();
    let raw_path = head.uri.path_and_query().map_or("", |path| path.as_str());
    let form = form(&head.headers, body.as_ref());
    let user = &caller.user;
    Ok(json!({
        "info": info_json(&db.info()?),
        "uuid": new_id(),
        "id": id,
        "method": head.method.as_str(),
        "requested_path": path,
        "path": path,
        "raw_path": raw_path,
        "query": query(head.uri.query().unwrap_or_default()),
        "headers": headers(&head.headers),
        "body": body.unwrap_or_else(|| "undefined".into()),
        "peer": peer(head),
        "form": form,
        "cookie": {},
        "userCtx": { "db": db.name(), "name": user.name(), "roles": user.roles() },
        "secObj": security.object(),
    }))
}

fn query(text: &str) -> Map<String, Value> {
    let params = Params::parse(text);
    let value = |(name, value): (&str, &str)| {
        let parsed = match JSON_PARAMETERS.contains(&name) {
            true => serde_json::from_str(value).ok(),
            false => None,
        };
        (name.to_owned(), parsed.unwrap_or_else(|| value.into()))
    };
    params.pairs().map(value).collect()
}

/// Returns the headers with the names that CouchDB's functions expect, such as `User-Agent`.
fn headers(headers: &HeaderMap) -> Map<String, Value> {
    let shown = headers
        .iter()
        .filter(|(name, _)| !SCRUBBED.contains(&name.as_str()));
    shown
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes());
            (capitalized(name.as_str()), Value::from(value))
        })
        .collect()
}

fn capitalized(name: &str) -> String {
    let part = |part: &str| {
        let mut characters = part.chars();
        let first = characters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(characters).collect::<String>()
    };
    name.split('-').map(part).collect::<Vec<_>>().join("-")
}

fn peer(head: &Parts) -> String {
    type Peer = axum::extract::ConnectInfo<std::net::SocketAddr>;
    let peer = head.extensions.get::<Peer>();
    peer.map_or_else(|| "127.0.0.1".to_owned(), |peer| peer.0.ip().to_string())
}

fn form(headers: &HeaderMap, body: Option<&Value>) -> Map<String, Value> {
    let content_type = headers.get("content-type");
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let is_form =
        content_type.is_some_and(|text| text.starts_with("application/x-www-form-urlencoded"));
    let text = body.and_then(Value::as_str).filter(|_| is_form);
    let params = Params::parse(text.unwrap_or_default());
    let fields = params
        .pairs()
        .map(|(name, value)| (name.to_owned(), value.into()));
    fields.collect()
}
