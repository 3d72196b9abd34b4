//! `/_node/{node}/_config`: the configuration.

use super::node::require_this_node;
use crate::auth::{ADMINS, hash_admins, hashed};
use crate::config::keys::MAX_DOCUMENT_SIZE;
use crate::config::{ConfigError, Lifetime};
use crate::http::blocking::blocking;
use crate::http::body::Received;
use crate::http::{HttpError, HttpResult, Server, reply};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The sections that CouchDB does not change over HTTP: in CouchDB, some name programs to run.
const READ_ONLY: &[&str] = &[
    "daemons",
    "external",
    "feature_flags",
    "httpd_db_handlers",
    "httpd_design_handlers",
    "httpd_global_handlers",
    "native_query_servers",
    "os_daemons",
    "query_servers",
];

/// `GET /_node/{node}/_config`: every section.
pub async fn config(State(server): State<Arc<Server>>, Path(node): Path<String>) -> HttpResult {
    require_this_node(&node)?;
    let values = server.config.values();
    let sections = values.sections();
    let sections: Map<String, Value> = sections
        .map(|section| (section.to_owned(), object(values.section(section))))
        .collect();
    reply::json(StatusCode::OK, &sections)
}

/// `GET /_node/{node}/_config/{section}`: an object, empty when the section does not exist.
pub async fn config_section(
    State(server): State<Arc<Server>>,
    Path((node, section)): Path<(String, String)>,
) -> HttpResult {
    require_this_node(&node)?;
    reply::json(
        StatusCode::OK,
        &object(server.config.values().section(&section)),
    )
}

fn object<'a>(values: impl Iterator<Item = (&'a str, &'a str)>) -> Value {
    values
        .map(|(key, value)| (key.to_owned(), Value::from(value)))
        .collect()
}

/// `GET /_node/{node}/_config/{section}/{key}`: a value.
pub async fn config_value(
    State(server): State<Arc<Server>>,
    Path((node, section, key)): Path<(String, String, String)>,
) -> HttpResult {
    require_this_node(&node)?;
    let value = server.config.get(&section, &key).ok_or_else(unknown)?;
    reply::json(StatusCode::OK, &value)
}

fn unknown() -> HttpError {
    HttpError::NotFound("unknown_config_value".to_owned())
}

/// `PUT /_node/{node}/_config/{section}/{key}`: sets a value. Answers the old one, empty if there was none.
pub async fn set_config_value(
    State(server): State<Arc<Server>>,
    Path((node, section, key)): Path<(String, String, String)>,
    headers: HeaderMap,
    body: Received,
) -> HttpResult {
    require_this_node(&node)?;
    require_writable(&section)?;
    let Value::String(value) = body.json()? else {
        return Err(HttpError::BadRequest("a JSON string expected".to_owned()));
    };
    require_possible(&server, &section, &key, &value)?;
    let lifetime = lifetime(&headers);
    let set = blocking(move || {
        let config = &server.config;
        let value = match section.as_str() {
            ADMINS => hashed(config, value.trim()),
            _ => value.trim().to_owned(),
        };
        config.set(&section, &key, &value, lifetime)
    });
    reply::json(StatusCode::OK, &set.await??.unwrap_or_default())
}

/// `DELETE /_node/{node}/_config/{section}/{key}`: deletes a value, and answers it.
pub async fn delete_config_value(
    State(server): State<Arc<Server>>,
    Path((node, section, key)): Path<(String, String, String)>,
    headers: HeaderMap,
) -> HttpResult {
    require_this_node(&node)?;
    require_writable(&section)?;
    let lifetime = lifetime(&headers);
    let deleted = blocking(move || server.config.delete(&section, &key, lifetime)).await??;
    reply::json(StatusCode::OK, &deleted.ok_or_else(unknown)?)
}

/// `POST /_node/{node}/_config/_reload`: reads the file again.
pub async fn reload_config(
    State(server): State<Arc<Server>>,
    Path(node): Path<String>,
) -> HttpResult {
    require_this_node(&node)?;
    let reload = move || {
        server.config.reload()?;
        hash_admins(&server.config)
    };
    blocking(reload).await??;
    Ok(reply::ok(StatusCode::OK))
}

fn require_writable(section: &str) -> HttpResult<()> {
    if READ_ONLY.contains(&section) {
        let reason = "Config section blacklisted for modification over HTTP API.";
        return Err(HttpError::Forbidden(reason.to_owned()));
    }
    Ok(())
}

/// Refuses a limit of documents above the memory that one of them may take.
fn require_possible(server: &Server, section: &str, key: &str, value: &str) -> HttpResult<()> {
    let max = server.settings.body_bytes_max;
    let is_limit = (section, key) == (MAX_DOCUMENT_SIZE.section, MAX_DOCUMENT_SIZE.name);
    let is_more = value
        .trim()
        .parse::<u64>()
        .is_ok_and(|bytes| bytes > max as u64);
    if is_limit && is_more {
        let reason = format!("max_document_size is at most {max}, half of --bodies-bytes-max.");
        return Err(HttpError::BadRequest(reason));
    }
    Ok(())
}

fn lifetime(headers: &HeaderMap) -> Lifetime {
    match headers.get("x-couch-persist") {
        Some(value) if value == "false" => Lifetime::Run,
        _ => Lifetime::Kept,
    }
}

impl From<ConfigError> for HttpError {
    fn from(error: ConfigError) -> Self {
        let text = error.to_string();
        match error {
            ConfigError::Section | ConfigError::Key | ConfigError::Value => {
                HttpError::BadRequest(text)
            }
            ConfigError::Refused(_) => HttpError::Forbidden(text),
            _ => HttpError::Internal(text),
        }
    }
}
