//! `/`, `/_up` and `/_uuids`.

use crate::config::keys;
use crate::http::headers::COUCHDB_VERSION;
use crate::http::params::Params;
use crate::http::{HttpError, HttpResult, Server, reply};
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use serde_json::json;
use std::sync::Arc;

/// `GET /`: what this is.
pub async fn welcome(State(server): State<Arc<Server>>) -> HttpResult {
    let welcome = json!({
        "couchdb": "Welcome",
        "version": COUCHDB_VERSION,
        "uuid": server.settings.uuid,
        "features": ["access-ready", "pluggable-storage-engines", "scheduler"],
        "vendor": { "name": "inorder-couch", "version": env!("CARGO_PKG_VERSION") },
    });
    reply::json(StatusCode::OK, &welcome)
}

/// `GET /_up`: whether it serves.
pub async fn up() -> HttpResult {
    reply::json(StatusCode::OK, &json!({ "status": "ok", "seeds": {} }))
}

/// `GET /_uuids`: ids that are unique. By default they sort by the time they were made: written in this order they cost a
/// B-tree least.
pub async fn uuids(State(server): State<Arc<Server>>, params: Params) -> HttpResult {
    let wrong = |_| HttpError::BadRequest("count must be a positive integer".to_owned());
    let count = params.parsed("count").map_err(wrong)?.unwrap_or(1);
    let count_max = server.config.values().read(&keys::UUIDS_MAX_COUNT);
    if count > count_max {
        let reason = format!("count parameter too large: at most {count_max}");
        return Err(HttpError::BadRequest(reason));
    }
    let id = |_| server.uuids.next(&server.config);
    let ids: Vec<String> = (0..count).map(id).collect();
    let mut response = reply::json(StatusCode::OK, &json!({ "uuids": ids }))?;
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
    let past = HeaderValue::from_static("Mon, 01 Jan 1990 00:00:00 GMT");
    headers.insert(header::EXPIRES, past);
    if let Some(first) = ids.first() {
        // No two answers are the same.
        reply::set(&mut response, header::ETAG, &format!("\"{first}\""));
    }
    Ok(response)
}
